import { useEffect, useRef, useState } from 'preact/hooks';
import WaveSurfer from 'wavesurfer.js';
import { HEADERS, type Row, text } from '../api.ts';
import { useAction } from '../hooks.ts';
import { clock, Problem } from '../parts.tsx';

/** Player of a recording with its waveform, one line per channel. */
export function Recording({
  account,
  recording,
}: {
  readonly account: string;
  readonly recording: Row;
}) {
  const place = useRef<HTMLDivElement>(null);
  const player = useRef<WaveSurfer | undefined>(undefined);
  const [plays, setPlays] = useState(false);
  const { problem, run } = useAction();
  const id = text(recording['recording_id']);
  const path = `/api/v1/Account/${account}/Recording/${id}.${text(recording['recording_format'])}`;
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    const made = WaveSurfer.create({
      container: current,
      height: 60,
      waveColor: '#6b9cf5',
      progressColor: '#1d4ed8',
      cursorColor: '#c81e1e',
      splitChannels: [{}, { waveColor: '#4fae74', progressColor: '#17663a' }],
      cspNonce: document.body.dataset['nonce'] ?? '',
    });
    player.current = made;
    made.on('play', () => setPlays(true));
    made.on('pause', () => setPlays(false));
    void run(async () => {
      const reply = await fetch(path, { headers: HEADERS });
      if (!reply.ok) throw new Error(`Loading the recording failed (${reply.status}).`);
      await made.loadBlob(await reply.blob());
    });
    return () => made.destroy();
  }, [path, run]);
  return (
    <section
      aria-label={`Recording of ${clock(Number(recording['recording_duration_ms']) / 1000)}`}
    >
      <h2>Recording</h2>
      <Problem text={problem} />
      <div class="wave" ref={place} />
      <button type="button" onClick={() => void player.current?.playPause()}>
        {plays ? 'Pause' : 'Play'}
      </button>
    </section>
  );
}
