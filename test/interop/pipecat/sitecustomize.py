"""Stand-in for pipecat, fastapi and uvicorn, written from the published behavior of pipecat's Plivo serializer.

Python imports this module at its start. The recognizer, model and voice are replaced by tones: the model greets with
1000 Hz, and answers each speech of the caller with 700 Hz after an interruption frame.
"""
import asyncio
import base64
import json
import math
import sys
import types


def module(name, **members):
    """Defines a module and its parents."""
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:i]), types.ModuleType(".".join(parts[:i])))
    vars(sys.modules[name]).update(members)


# ---- frames


class Frame:
    def __init__(self, **members):
        vars(self).update(members)


class AudioFrame(Frame):
    pass


class InterruptionFrame(Frame):
    pass


class EndFrame(Frame):
    pass


class LLMRunFrame(Frame):
    pass


# ---- mu-law (ITU-T G.711)


def to_linear(byte):
    byte = ~byte & 0xFF
    sample = (((byte & 0x0F) << 3) + 0x84 << ((byte & 0x70) >> 4)) - 0x84
    return -sample if byte & 0x80 else sample


def to_ulaw(sample):
    sign = 0x80 if sample < 0 else 0
    sample = min(abs(sample), 32635) + 0x84
    exponent = max(0, sample.bit_length() - 8)
    return ~(sign | exponent << 4 | sample >> exponent + 3 & 0x0F) & 0xFF


LINEAR = [to_linear(byte) for byte in range(256)]


def tone(hz, ms):
    return [int(8000 * math.sin(2 * math.pi * hz * i / 8000)) for i in range(ms * 8)]


# ---- serializer


class PlivoFrameSerializer:
    class InputParams:
        def __init__(self, plivo_sample_rate=8000, sample_rate=None, auto_hang_up=True):
            self.plivo_sample_rate = plivo_sample_rate
            self.auto_hang_up = auto_hang_up

    def __init__(self, stream_id, call_id=None, auth_id=None, auth_token=None, params=None):
        params = params or self.InputParams()
        if params.auto_hang_up and not (call_id and auth_id and auth_token):
            raise ValueError("auto_hang_up is enabled but call_id, auth_id or auth_token is missing")
        self.stream_id = stream_id
        self.rate = params.plivo_sample_rate

    def serialize(self, frame):
        if isinstance(frame, InterruptionFrame):
            return json.dumps({"event": "clearAudio", "streamId": self.stream_id})
        if isinstance(frame, AudioFrame):
            payload = base64.b64encode(bytes(to_ulaw(sample) for sample in frame.samples)).decode()
            media = {"contentType": "audio/x-mulaw", "sampleRate": self.rate, "payload": payload}
            return json.dumps({"event": "playAudio", "media": media, "streamId": self.stream_id})
        return None

    def deserialize(self, data):
        message = json.loads(data)
        if message["event"] != "media":
            return None
        return AudioFrame(samples=[LINEAR[byte] for byte in base64.b64decode(message["media"]["payload"])])


# ---- transport and pipeline


class FastAPIWebsocketParams(Frame):
    pass


class FastAPIWebsocketTransport:
    def __init__(self, websocket, params):
        assert params.audio_in_enabled and params.audio_out_enabled
        self.websocket, self.serializer = websocket, params.serializer
        self.handlers = {}

    def input(self):
        return self

    def output(self):
        return self

    def event_handler(self, name):
        def register(handler):
            self.handlers[name] = handler
            return handler

        return register

    async def send(self, frame):
        text = self.serializer.serialize(frame)
        if text is not None:
            await self.websocket.send_text(text)


class PipelineTask:
    def __init__(self, pipeline, params):
        assert (params.audio_in_sample_rate, params.audio_out_sample_rate) == (8000, 8000)
        self.transport = pipeline[0]
        self.is_over = False

    async def queue_frames(self, frames):
        for frame in frames:
            if isinstance(frame, LLMRunFrame):
                await self.speak(1000, 10_000)

    async def speak(self, hz, ms):
        """Sends the audio in pieces of 40 ms without waiting, as a fast voice does."""
        samples = tone(hz, ms)
        for at in range(0, len(samples), 320):
            await self.transport.send(AudioFrame(samples=samples[at : at + 320]))

    async def cancel(self):
        self.is_over = True


class PipelineRunner:
    def __init__(self, handle_sigint):
        pass

    async def run(self, task):
        transport = task.transport
        await transport.handlers["on_client_connected"](transport, transport.websocket)
        loud = quiet = 0
        async for text in transport.websocket.iter_text():
            frame = transport.serializer.deserialize(text)
            if frame is None:
                continue
            is_loud = max(map(abs, frame.samples)) > 2000
            loud, quiet = (loud + 1, 0) if is_loud else (loud, quiet + 1)
            if loud == 5 and is_loud:
                await transport.send(InterruptionFrame())
            if loud >= 5 and quiet == 25:
                loud = 0
                await task.speak(700, 600)
        await transport.handlers["on_client_disconnected"](transport, transport.websocket)
        assert task.is_over


class Service:
    Settings = Frame

    def __init__(self, api_key, **_):
        assert api_key


class LLMContext:
    def __init__(self, messages):
        self.messages = messages

    def add_message(self, message):
        self.messages.append(message)


# ---- fastapi and uvicorn, on the server of the examples


class Response:
    def __init__(self, content, media_type):
        self.content = content


class WebSocket:
    def __init__(self, socket):
        self._socket = socket
        self.send_text = socket.send
        self.iter_text = lambda: socket

    async def accept(self):
        pass

    async def receive_text(self):
        return await self._socket.__anext__()


class FastAPI:
    def __init__(self):
        self.replies, self.stream = {}, None

    def post(self, path):
        def register(reply):
            async def document(_callback):
                return (await reply()).content

            self.replies[path] = document
            return reply

        return register

    def websocket(self, _path):
        def register(stream):
            async def accepted(socket):
                await stream(WebSocket(socket))
                await socket.close()

            self.stream = accepted
            return stream

        return register


def run(app, host, port, **_):
    from carillon_bot import serve

    asyncio.run(serve(port, app.replies, app.stream))


module("fastapi", FastAPI=FastAPI, Response=Response, WebSocket=WebSocket)
module("uvicorn", run=run)
module("pipecat.audio.vad.silero", SileroVADAnalyzer=Frame)
module("pipecat.frames.frames", LLMRunFrame=LLMRunFrame)
module("pipecat.pipeline.pipeline", Pipeline=list)
module("pipecat.pipeline.runner", PipelineRunner=PipelineRunner)
module("pipecat.pipeline.task", PipelineParams=Frame, PipelineTask=PipelineTask)
module("pipecat.processors.aggregators.llm_context", LLMContext=LLMContext)
module(
    "pipecat.processors.aggregators.llm_response_universal",
    LLMContextAggregatorPair=lambda context, user_params: (context, context),
    LLMUserAggregatorParams=Frame,
)
module("pipecat.serializers.plivo", PlivoFrameSerializer=PlivoFrameSerializer)
module("pipecat.services.cartesia.tts", CartesiaTTSService=Service)
module("pipecat.services.deepgram.stt", DeepgramSTTService=Service)
module("pipecat.services.openai.llm", OpenAILLMService=Service)
module(
    "pipecat.transports.websocket.fastapi",
    FastAPIWebsocketParams=FastAPIWebsocketParams,
    FastAPIWebsocketTransport=FastAPIWebsocketTransport,
)
