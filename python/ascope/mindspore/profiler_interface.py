# SPDX-License-Identifier: Apache-2.0
"""The session of the process, which the actions of a schedule control.

There is one session per process for all Profilers: `init` makes its directory, `start` and `stop` record, `finalize` completes it,
`analyse` analyses what was recorded since the last `clear`.
"""
import json
import os
import weakref
from typing import Any, Dict, List, Optional

from ascope import _core, _front_ends, _program
from ascope.mindspore import _hooks, _log, _paths, callbacks, config
from ascope.mindspore.mstx import recording as _marks_recording


NOT_THERE = "ProfilerInterface has not been initialized; %s has no effect."


def session_options(given: config.Parameters, place: str, worker_name: Optional[str]) -> Dict[str, Any]:
    """The options for the recorder. place: the directory in which the collection is made."""
    info = dict(json.loads(config.info(given)), output_path=place)
    return dict(given.options(), layout="mindspore", parent_dir=_paths.absolute(place), worker_name=worker_name,
                rank=int(config.rank_id()), framework_info=json.dumps(info))


class Owner:
    """Identifies a Profiler without keeping it alive."""


class ProfilerInterface:
    """The session. All functions are class methods, because there is one per process."""
    _session: Any = None  # None: no session is open
    _state = "none"  # or "new", "recording", "stopped"
    _is_initialized = False  # from init() to clear()
    _pid = 0
    owner: Optional[Owner] = None  # the Profiler that uses the session
    parameters: Optional[config.Parameters] = None  # for the next session
    metadata: Dict[str, Any] = {}  # added by the user, and not yet written
    path: Optional[str] = None  # directory of the last session
    paths: List[str] = []  # recorded since the last clear()
    # Directories that a Profiler had not analysed when another one started.
    _left: "weakref.WeakKeyDictionary[Owner, List[str]]" = weakref.WeakKeyDictionary()

    @classmethod
    def use(cls, owner: Owner, parameters: config.Parameters, metadata: Dict[str, Any]) -> bool:
        """Makes the next calls apply to this Profiler. Returns False if another one is recording."""
        _front_ends.receive(_log.report)
        if cls._session is not None and cls._pid != os.getpid():
            cls._forget()  # after a fork: the session continues in the parent
        if cls._session is not None and cls.owner is not owner:
            if cls._state == "recording":
                _log.warning("Another Profiler is recording in this process; this one is ignored until it has stopped.")
                return False
            cls.finalize()  # it was stopped, and its owner has not completed it
        if cls._is_initialized and cls.owner is not owner:
            if cls.owner is not None:
                cls._left[cls.owner] = cls.paths
            cls.clear()
        cls.owner, cls.parameters, cls.metadata = owner, parameters, metadata
        return True

    @classmethod
    def take_left(cls, owner: Owner) -> List[str]:
        """The directories that a Profiler had not analysed when another one started. They are returned once."""
        return cls._left.pop(owner, [])

    @classmethod
    def _forget(cls) -> None:
        cls._session, cls._state, cls._is_initialized, cls.owner, cls.paths = None, "none", False, None, []

    @classmethod
    def is_recording(cls) -> bool:
        return cls._state == "recording" and cls._pid == os.getpid()

    @classmethod
    def _options(cls) -> Dict[str, Any]:
        given = cls.parameters or config.Parameters({})
        return session_options(given, given.place.dir_name or given.output_path, given.place.worker_name)

    @classmethod
    def init(cls) -> None:
        """Makes the directory of a session, unless there is one."""
        if cls._session is not None and cls._state != "stopped":
            return
        if cls._session is not None:  # every recording has a directory of its own
            cls.finalize()
        cls._is_initialized = False
        _front_ends.make_room()
        try:
            cls._session = _core.Session(cls._options())
        except _core.Error as trouble:
            _log.error(str(trouble))
            return
        cls.path, cls._state, cls._pid, cls._is_initialized = cls._session.path, "new", os.getpid(), True

    @classmethod
    def _is_there(cls, what: str) -> bool:
        if not cls._is_initialized:
            _log.warning(NOT_THERE % what)
        return cls._is_initialized

    @classmethod
    def _drive(cls, what: str, state: str, then: str) -> bool:
        if not cls._is_there(what) or cls._state != state:
            return False
        cls._state = then
        try:
            getattr(cls._session, what)()
        except _core.Error as trouble:
            _log.error(str(trouble))
            return False
        return True

    @classmethod
    def start(cls) -> None:
        """Begins recording."""
        if cls._drive("start", "new", "recording") and cls.path and cls.path not in cls.paths:
            cls.paths.append(cls.path)

    @classmethod
    def step(cls, number: int) -> None:
        """Begins step `number` of a schedule."""
        if cls.is_recording():
            cls._session.step(number)

    @classmethod
    def stop(cls) -> None:
        """Ends recording: everything is on disk."""
        cls._drive("stop", "recording", "stopped")

    @classmethod
    def dump_metadata(cls) -> None:
        """Writes the added metadata to the session's file, each value once."""
        if cls._session is None:
            return
        while cls.metadata:
            key = next(iter(cls.metadata))
            value = cls.metadata.pop(key)
            try:
                cls._session.metadata_json(key, json.dumps(value))
            except (_core.Error, ValueError) as trouble:
                _log.warning(str(trouble))

    @classmethod
    def finalize(cls) -> None:
        """Ends the session, which completes its directory."""
        if not cls._is_there("finalize") or cls._session is None:
            return
        cls.dump_metadata()
        session, cls._session, cls._state = cls._session, None, "none"
        try:
            session.end()
        except _core.Error as trouble:
            _log.error(str(trouble))

    @classmethod
    def analyse(cls, waits: bool = True, pretty: bool = False, step_list: Optional[List[int]] = None) -> None:
        """Analyses what was recorded since the last clear()."""
        if cls._is_there("analyse"):
            for path in cls.paths:
                analyse_path(path, waits, pretty, step_list)

    @classmethod
    def clear(cls) -> None:
        """Forgets the directories recorded so far: analyse() starts afresh."""
        if cls._is_there("clear"):
            cls._is_initialized, cls.paths = False, []


def _arguments(step_list: Optional[List[int]], pretty: bool) -> List[str]:
    made = ["--pretty"] if pretty else []
    return made + (["--steps", "+%d-%d" % (min(step_list), max(step_list))] if step_list else [])  # step 1 is the first recorded one


def analyse_path(path: str, waits: bool = True, pretty: bool = False, step_list: Optional[List[int]] = None, simplifies: Optional[bool] = None,
                 max_process_number: Optional[int] = None) -> Any:
    """Analyses a collection, or all in a directory. Returns the result, or None with waits=False."""

    def done(result):
        if result.is_done:
            _log.info("analysed in %.1f s: %s" % (result.seconds, path))

    more = _arguments(step_list, pretty)
    if simplifies is not None:
        more.append("--simplify=" + ("on" if simplifies else "off"))
    return _program.analyse(path, None, max_process_number, waits=waits, report=_log.report, done=done, more=more)


def _recording(is_on: bool, options: Any) -> None:
    if not is_on:
        callbacks.stop()
    _hooks.recording(is_on, options)
    _marks_recording(is_on, options)


_front_ends.on_recording("mindspore", _recording)
