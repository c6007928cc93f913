# SPDX-License-Identifier: MIT
"""
The ordeal: clients work on a real server, and one in five packets with an EXEC goes wrong.

``gate``     stands between the clients and the server, and passes on what they say
``faults``   lets it go wrong, by a seed
``book``     in which the store itself keeps what took effect
``clerk``    clients that keep account of what each of their calls was told
``verdict``  compares the accounts with what took effect
"""
