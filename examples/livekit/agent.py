#!/usr/bin/env python3
"""Agent of LiveKit: python3 -m pip install "livekit-agents[openai]", then python3 examples/livekit/agent.py dev

LIVEKIT_URL, LIVEKIT_API_KEY, LIVEKIT_API_SECRET and OPENAI_API_KEY are needed.
"""
from livekit import agents
from livekit.agents import Agent, AgentSession
from livekit.plugins import openai

INSTRUCTIONS = "You are the receptionist of a dental practice. Be brief and friendly."


async def entrypoint(ctx: agents.JobContext):
    await ctx.connect()
    caller = await ctx.wait_for_participant()
    print("call", caller.attributes.get("carillon.call", ""), "began", flush=True)
    session = AgentSession(llm=openai.realtime.RealtimeModel(voice="marin"))
    await session.start(room=ctx.room, agent=Agent(instructions=INSTRUCTIONS))
    await session.generate_reply(instructions="Greet the caller.")


if __name__ == "__main__":
    agents.cli.run_app(agents.WorkerOptions(entrypoint_fnc=entrypoint, agent_name="receptionist"))
