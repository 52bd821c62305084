"""Runs pytest and writes events to file descriptor 3."""
import sys, os
# Keeps Python from looking for modules in the directory that it was started in, and in the work.
sys.path[:] = [path for path in sys.path if path and path != os.getcwd()]
import json
places = json.loads(sys.argv[1])
try:
    import pytest
except ImportError as error:
    sys.exit(str(error))
os.set_inheritable(3, False)
os.chdir(places["cwd"])
if places.get("pythonPath") is not None:
    os.environ["PYTHONPATH"] = places["pythonPath"]

def names_of(nodeid):
    path, bracket, parameters = nodeid.partition("[")
    parts = path.split("::")
    parts[0] = parts[0].replace("/", ".")
    if parts[0].endswith(".py"):
        parts[0] = parts[0][:-3]
    parts[-1] += bracket + parameters
    return [".".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts

class Reporter:
    def __init__(self):
        self.root = places["cwd"]
        self.outcomes = {}
        self.files = set()

    def say(self, *event):
        data = memoryview(json.dumps(event).encode() + b"\n")
        while data:
            data = data[os.write(3, data):]

    def file_of(self, nodeid):
        return os.path.join(self.root, nodeid.partition("::")[0])

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        self.root = str(getattr(early_config, "rootpath", None) or early_config.rootdir)
        library = [index for index, path in enumerate(sys.path) if "site-packages" in path or "dist-packages" in path]
        start = library[0] if library else len(sys.path)
        sys.path[start:start] = places["ofWork"]

    def tell(self, nodeid, state, seconds, message):
        self.files.add(self.file_of(nodeid))
        self.say("test", self.file_of(nodeid), names_of(nodeid), state, seconds * 1000, message[:65536])

    def pytest_collectreport(self, report):
        if report.failed:
            path = self.file_of(report.nodeid)
            self.say("test", path, [], "failed", 0, report.longreprtext[:65536])

    def pytest_collection_finish(self, session):
        known = {}
        for item in session.items:
            known.setdefault(self.file_of(item.nodeid), []).append(names_of(item.nodeid))
        self.files.update(known)
        self.say("files", list(known))
        for path, names in known.items():
            self.say("known", path, names)

    def pytest_runtest_logreport(self, report):
        state, seconds, words = self.outcomes.get(report.nodeid, ("skipped", 0, ""))
        if report.outcome == "rerun":
            return
        if report.failed:
            state, words = "failed", words + report.longreprtext + "\n"
        elif report.passed and report.when == "call" and state == "skipped":
            state = "passed"
        self.outcomes[report.nodeid] = (state, seconds + report.duration, words)

    def pytest_runtest_logfinish(self, nodeid):
        if nodeid in self.outcomes:
            self.tell(nodeid, *self.outcomes.pop(nodeid))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self):
        for path in self.files:
            self.say("ended", path)

reporter = Reporter()
code = int(pytest.main(sys.argv[2:], plugins=[reporter]))
# pytest has reported a command line that it does not know.
if code != 4:
    reporter.say("end")
sys.exit(code)
