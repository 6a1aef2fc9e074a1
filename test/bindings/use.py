"""Uses of the Python package that a checker of types accepts. Never run."""
import asyncio

import agentbox


def use() -> None:
    done: agentbox.CompletedProcess = agentbox.run(["make"], allow=["github.com"], deadline=1.5, text=True)
    holds: tuple[str, ...] = done.assurance.holds
    with agentbox.Client(profile="strict") as client:
        code: int = client.popen("cat", shell=True, stdin=agentbox.PIPE).wait(timeout=1)
        verdict: agentbox.Verdict = client.check(["git", "push"])
    with agentbox.Pool(4, profile="strict") as pool:
        code = pool.run(["make"], cwd="/").returncode
    agentbox.Popen(["make"], on_question=lambda question: question.kind == "host")
    agentbox.run(["make"], alow=["github.com"])  # pyright: ignore[reportCallIssue]
    agentbox.run(["make"], deadline="1")  # pyright: ignore[reportArgumentType]
    asyncio.run(agentbox.aio.run(["make"], timeout=3))
    print(holds, code, verdict.runs)
