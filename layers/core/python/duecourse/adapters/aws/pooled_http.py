"""Send a request on an open connection of botocore's pool, without urllib3's bookkeeping.

urllib3 prepares for redirects, proxies, chunked bodies and streamed responses, which the calls of
`json_client` never have. That takes more CPU time than the exchange.
"""

from __future__ import annotations

from http.client import HTTPException
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectionClosedError, ReadTimeoutError
from botocore.httpsession import URLLib3Session

from duecourse.adapters.aws.http_exchange import Response, exchange


class JsonRequest(AWSPreparedRequest):
    """A POST request to the root of a service, with its length among the headers."""


class PooledHttpSession(URLLib3Session):
    """botocore's session. It opens every connection itself and sends the first request on it."""

    def send(self: Any, request: Any) -> Any:
        usual: Any = super()  # its methods are missing in the type stubs
        if not isinstance(request, JsonRequest) or self._proxy_config._proxies:
            return usual.send(request)
        pool = self._find_pool(request.url)
        connection = pool._get_conn()
        try:
            if connection.sock is not None:
                connection.sock.settimeout(pool.timeout.read_timeout)
                return _exchange(connection, request)
        finally:
            pool._put_conn(connection)
        return usual.send(request)

    def _find_pool(self: Any, url: str) -> Any:
        """Return the connections to the host. A client has one host, so the last pool is kept."""
        last_url, pool = self.__dict__.get("_last_pool", (None, None))
        if url != last_url or pool.pool is None:  # a closed pool has none
            pool = self._manager.connection_from_url(url)
            self._last_pool = url, pool
        return pool


def _exchange(connection: Any, request: Any) -> Any:
    """Send the request and return the response. The connection is closed after any error."""
    try:
        response = exchange(connection.sock, request.url, request.headers, request.body)
    except BaseException as error:
        connection.close()
        if isinstance(error, TimeoutError):
            raise ReadTimeoutError(endpoint_url=request.url, error=error) from error
        if isinstance(error, OSError | HTTPException):
            raise ConnectionClosedError(
                error=error, request=request, endpoint_url=request.url
            ) from error
        raise
    if response.must_close:
        connection.close()
    return JsonResponse(request.url, response)


class JsonResponse(AWSResponse):
    """A response that was read to its end."""

    def __init__(self, url: str, response: Response) -> None:
        # botocore's own constructor would convert the headers.
        self.url, self.status_code = url, response.status
        self.headers: Any = response.headers
        self.raw: Any = None
        self._content = response.body
