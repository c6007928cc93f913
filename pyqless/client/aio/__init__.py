# SPDX-License-Identifier: MIT
"""
The client for asyncio, with its handles: the same methods as those of ``pyqless.client.sync``, to be awaited.

What is a property there and asks the store is a method here: ``get_``, ``set_`` and ``del_`` stand before its name.
"""
