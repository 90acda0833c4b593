import { useEffect, useRef, useState } from 'preact/hooks';
import type WaveSurfer from 'wavesurfer.js';
import { get, Refused, type Row, rows, send, text } from '../api.ts';
import { clock } from '../format.ts';
import { useAction, useLoad } from '../hooks.ts';
import { t } from '../text.ts';
import { Save } from '../ui/form.tsx';
import { Card, Problem } from '../ui/parts.tsx';

interface Props {
  readonly account: string;
  readonly recording: Row;
}

export const fileOf = (account: string, recording: Row): string =>
  `/api/v1/Account/${account}/Recording/${text(recording['recording_id'])}.${text(recording['recording_format'])}`;

const cssColor = (name: string): string => {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

/** Length of a recording whose waveform is drawn, s. The decoded audio of one hour takes 230 MB of memory. */
const DRAWN_MAX_S = 3600;

interface Source {
  readonly path: string;
  readonly lengthS: number;
  /** Whether the file is loaded before it is played. */
  readonly isOpen: boolean;
}

/** Draws the waveform of the file at `path` in the element of `place`, and plays it. */
function usePlayer({ path, lengthS, isOpen }: Source) {
  const place = useRef<HTMLDivElement>(null);
  const player = useRef<WaveSurfer | undefined>(undefined);
  /** Position to play from when the file is loaded. */
  const due = useRef<number | undefined>(undefined);
  const [isWanted, setWanted] = useState(isOpen);
  const [isPlaying, setPlaying] = useState(false);
  const [atS, setAt] = useState(0);
  const { problem, run } = useAction();
  useEffect(() => {
    if (!isWanted) return undefined;
    let made: WaveSurfer | undefined;
    let isOver = false;
    const load = async () => {
      // Loaded on demand: most visits play nothing.
      const { default: Player } = await import('wavesurfer.js');
      const file = await audioOf(path);
      if (isOver || place.current === null) return;
      made = Player.create(looksIn(place.current));
      made.on('play', () => setPlaying(true));
      made.on('pause', () => setPlaying(false));
      made.on('timeupdate', setAt);
      await (lengthS > DRAWN_MAX_S ? made.loadBlob(file, [[0, 0]], lengthS) : made.loadBlob(file));
      player.current = made;
      if (due.current === undefined) return;
      made.setTime(due.current);
      await made.play().catch(() => undefined);
    };
    void run(load).then((isDone) => isDone || isOver || setWanted(false));
    return () => {
      isOver = true;
      made?.destroy();
      player.current = undefined;
    };
  }, [path, run, isWanted]);
  const seek = (s: number) => {
    due.current = s;
    setWanted(true);
    player.current?.setTime(s);
    void player.current?.play();
  };
  const toggle = () => (player.current === undefined ? seek(0) : void player.current.playPause());
  return { place, isWanted, isPlaying, atS, problem, seek, toggle };
}

const looksIn = (container: HTMLElement) => ({
  container,
  height: 56,
  waveColor: cssColor('--border-strong'),
  progressColor: cssColor('--chart-1'),
  cursorColor: cssColor('--bad'),
  splitChannels: [{}, { progressColor: cssColor('--chart-2') }],
  cspNonce: document.body.dataset['nonce'] ?? '',
});

async function audioOf(path: string): Promise<Blob> {
  const reply = await send(path);
  if (!reply.ok) {
    throw new Refused(
      reply.status,
      t('Loading the recording failed ({status}).', { status: reply.status }),
    );
  }
  return reply.blob();
}

interface RecordingProps extends Props {
  readonly isOpen?: boolean;
}

/** Player of a recording with its waveform, one line per channel, and its transcript. */
export function Recording({ account, recording, isOpen = false }: RecordingProps) {
  const path = fileOf(account, recording);
  const lengthS = Number(recording['recording_duration_ms']) / 1000;
  const { place, isWanted, isPlaying, atS, problem, seek, toggle } = usePlayer({
    path,
    lengthS,
    isOpen,
  });
  return (
    <Card
      title={t('Recording')}
      unit={clock(lengthS)}
      actions={
        <Save
          path={path}
          name={`${text(recording['recording_id'])}.${text(recording['recording_format'])}`}
        >
          {t('Download')}
        </Save>
      }
    >
      <Problem text={problem} />
      <div class="wave" ref={place} hidden={!isWanted} />
      <div class="row">
        <button type="button" class="btn" onClick={toggle}>
          {isPlaying ? t('Pause') : t('Play')}
        </button>
        <span class="muted small">{clock(atS)}</span>
      </div>
      <Transcript account={account} recording={recording} atS={atS} seek={seek} />
    </Card>
  );
}

interface TranscriptProps extends Props {
  readonly atS: number;
  readonly seek: (s: number) => void;
}

/** Text of the recording. Sentences without own times get a time in proportion to their length. */
function Transcript({ account, recording, atS, seek }: TranscriptProps) {
  const id = text(recording['recording_id']);
  const { value } = useLoad(`${account} ${id} transcriptions`, () =>
    get(`/api/v1/Account/${account}/Recording/${id}/transcriptions`),
  );
  const latest = rows(value?.['objects']).at(-1);
  const whole = text(latest?.['transcription']);
  if (latest?.['status'] === 'waiting')
    return <p class="small muted">{t('The transcription of this recording is in progress.')}</p>;
  if (latest?.['status'] === 'failed')
    return (
      <Problem text={t('The transcription failed. {error}', { error: text(latest['error']) })} />
    );
  if (whole === '') return null;
  const durationS = Number(recording['recording_duration_ms']) / 1000;
  const sentences = whole.match(/[^.!?\n]+[.!?]*\s*/g) ?? [whole];
  let passed = 0;
  const timed = sentences.map((sentence) => {
    const fromS = (durationS * passed) / whole.length;
    passed += sentence.length;
    return { sentence, fromS, toS: (durationS * passed) / whole.length };
  });
  return (
    <div>
      <h3>{t('Transcript')}</h3>
      <p class="small muted">{t('Times are estimated from the length of the text.')}</p>
      <div class="transcript">
        {timed.map(({ sentence, fromS, toS }) => (
          <button
            key={fromS}
            type="button"
            class={atS >= fromS && atS < toS ? 'playing' : ''}
            onClick={() => seek(fromS)}
          >
            <span class="muted num">{clock(fromS)}</span>
            <span>{sentence}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
