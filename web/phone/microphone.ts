import type { BrowserCall } from './browser-call.ts';

/** Gives a call a track of another microphone. Each call has a separate track, which ends with it. */
export async function replaceMicrophone(
  call: Pick<BrowserCall, 'state' | 'peer' | 'enableTracks'>,
  audio: MediaTrackConstraints | true,
): Promise<void> {
  const sender = call.peer?.getSenders().find(({ track }) => track?.kind === 'audio');
  if (sender === undefined) return;
  const [track] = (await navigator.mediaDevices.getUserMedia({ audio })).getAudioTracks();
  if (track === undefined) return;
  // The call may have ended while the browser asked for permission.
  if (call.state === 'ended') {
    track.stop();
    return;
  }
  const before = sender.track;
  try {
    await sender.replaceTrack(track);
  } catch (error) {
    track.stop();
    throw error;
  }
  before?.stop();
  call.enableTracks();
}
