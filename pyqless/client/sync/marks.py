# SPDX-License-Identifier: MIT
"""What is written on a job: tags, tracking, entries of its history, for the client that blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyqless.client.requests import jobs as requests
from pyqless.client.views import JobView

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Marks"]


class Marks(JobView["Client"]):
    """What can be written on a job."""

    __slots__ = ()

    client: Client

    def tag(self, *tags: str) -> list[str]:
        """
        Add tags.

        Returns:
            list: all its tags.

        Raises:
            JobNotFound: it is there no more.
        """
        return self._tagged(self.client.storage.run(requests.tag(self, tags)))

    def untag(self, *tags: str) -> list[str]:
        """
        Take tags away.

        Returns:
            list: the tags it keeps.

        Raises:
            JobNotFound: it is there no more.
        """
        return self._tagged(self.client.storage.run(requests.untag(self, tags)))

    def track(self) -> bool:
        """
        Publish the job's events from now on, see ``Client.events``.

        Returns:
            bool: whether that is new.

        Raises:
            JobNotFound: it is there no more.
        """
        changed = self.client.storage.run(requests.track(self, on=True))
        return self._marked(changed, tracked=True)

    def untrack(self) -> bool:
        """
        Publish the job's events no longer.

        Returns:
            bool: whether that is new.

        Raises:
            JobNotFound: it is there no more.
        """
        changed = self.client.storage.run(requests.track(self, on=False))
        return self._marked(changed, tracked=False)

    def log(self, message: str, /, **data: Any) -> None:
        """
        Enter something into the job's history.

        Args:
            message: shown as ``what``.
            data: what JSON can say, shown beside it; with the message it may be as long as a job's data.

        Raises:
            JobNotFound: it is there no more.
            DataTooLarge: that is longer than the client's ``max_data_size``.
        """
        self.client.storage.run(requests.log(self, message, data))
