"""Files of numba's compiled code with a digest; imported when something is compiled."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    InTreeCacheLocator,
)

_DIGEST = 32


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """Files that end with their SHA-256. A file that does not is treated as missing."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BytesIO]:
        content = BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue() + sha256(content.getvalue()).digest())

    def _load_index(self) -> Any:
        return super()._load_index() if _is_whole(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        if not _is_whole(self._data_path(name)):
            raise OSError(f"{name} is damaged")  # numba takes it as a file that is gone
        return super()._load_data(name)


def _is_whole(path: str) -> bool:
    """Whether a file is there and ends with the SHA-256 of what is before."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return sha256(content[:-_DIGEST]).digest() == content[-_DIGEST:]


class _InOneFolder(CompileResultCacheImpl):  # type: ignore[misc]
    """Keeps files in a folder, and nowhere else where that is not possible.

    ``numba.config.CACHE_DIR`` is not used: it is one for all threads, and each compilation resets
    it.
    """

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        class Below(InTreeCacheLocator):  # type: ignore[misc]
            def get_cache_path(self) -> str:
                return str(folder / self.get_suitable_cache_subpath(self._py_file))

        self._locator_classes = [Below]
        super().__init__(function)


class KeptCode(FunctionCache):  # type: ignore[misc]
    """The compiled code of a function. It only saves time: what cannot be read or written is not.

    Raises
    ------
    RuntimeError
        If nothing can be written to the folder.
    """

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._impl_class = partial(_InOneFolder, folder)
        super().__init__(function)
        implementation = self._impl
        self._cache_file = _Files(
            self._cache_path,
            implementation.filename_base,
            implementation.locator.get_source_stamp(),
        )

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the code for a signature, or None."""
        with suppress(OSError):
            return super().load_overload(signature, context)
        return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep the code for a signature, if there is room."""
        with suppress(OSError):
            super().save_overload(signature, code)
