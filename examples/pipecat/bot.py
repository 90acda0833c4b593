#!/usr/bin/env python3
"""Pipecat: python3 examples/pipecat/bot.py [port]

Deepgram recognizes, OpenAI answers, Cartesia speaks. Pipecat's Plivo serializer connects the pipeline to the call.
"""
import json
import os
import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Response, WebSocket
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import LLMRunFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineParams, PipelineTask
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.serializers.plivo import PlivoFrameSerializer
from pipecat.services.cartesia.tts import CartesiaTTSService
from pipecat.services.deepgram.stt import DeepgramSTTService
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
from carillon_bot import port_or, public_url, stream_document

PORT = port_or(9030)
INSTRUCTIONS = "You are the receptionist of a dental practice, in a phone call. Be brief and friendly."
VOICE = "71a7ad14-091c-4e8e-a314-022ece01c121"
app = FastAPI()


@app.post("/answer")
async def answer():
    return Response(stream_document(PORT, contentType="audio/x-mulaw;rate=8000"), media_type="application/xml")


@app.websocket("/stream")
async def stream(websocket: WebSocket):
    await websocket.accept()
    start = json.loads(await websocket.receive_text())["start"]
    serializer = PlivoFrameSerializer(
        stream_id=start["streamId"],
        call_id=start["callId"],
        # Otherwise the serializer requires credentials and hangs up through its vendor.
        params=PlivoFrameSerializer.InputParams(auto_hang_up=False),
    )
    params = FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True, serializer=serializer)
    await converse(FastAPIWebsocketTransport(websocket=websocket, params=params))


async def converse(transport):
    context = LLMContext([{"role": "system", "content": INSTRUCTIONS}])
    user, assistant = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )
    pipeline = Pipeline(
        [
            transport.input(),
            DeepgramSTTService(api_key=os.environ["DEEPGRAM_API_KEY"]),
            user,
            OpenAILLMService(api_key=os.environ["OPENAI_API_KEY"]),
            CartesiaTTSService(
                api_key=os.environ["CARTESIA_API_KEY"], settings=CartesiaTTSService.Settings(voice=VOICE)
            ),
            transport.output(),
            assistant,
        ]
    )
    task = PipelineTask(pipeline, params=PipelineParams(audio_in_sample_rate=8000, audio_out_sample_rate=8000))

    @transport.event_handler("on_client_connected")
    async def connected(_transport, _client):
        context.add_message({"role": "user", "content": "Greet the caller."})
        await task.queue_frames([LLMRunFrame()])

    @transport.event_handler("on_client_disconnected")
    async def disconnected(_transport, _client):
        await task.cancel()

    await PipelineRunner(handle_sigint=False).run(task)


print(f"serving {public_url(PORT)}/answer", flush=True)
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
