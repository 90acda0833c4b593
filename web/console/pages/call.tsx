import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, get, number, Refused, type Row, rows, text } from '../api.ts';
import { Chart } from '../chart.tsx';
import { useAction, useLive, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import {
  At,
  clock,
  Input,
  Mos,
  money,
  NotFound,
  onSubmit,
  Problem,
  Save,
  Since,
  State,
  Table,
  Tiles,
} from '../parts.tsx';
import { whyEnded } from '../reasons.ts';
import { Ladder } from './ladder.tsx';
import { ListenIn, StreamInspector } from './listen.tsx';
import { Recording } from './recording.tsx';
import { Timeline } from './timeline.tsx';

interface Props {
  readonly account: string;
  readonly uuid: string;
  readonly isStaff: boolean;
}

/** Fetches the CDR, which exists only after the call has ended. */
const recordOf = (account: string, uuid: string): Promise<Row | null> =>
  get(`/api/v1/Account/${account}/cdr/${uuid}`).then(
    (found) => (found['data'] ?? found) as Row,
    (error: unknown) => {
      if (error instanceof Refused && error.status === 404) return null;
      throw error;
    },
  );

export function CallPage({ account: chosen, uuid, isStaff }: Props) {
  const live = useLive().calls.find((one) => one['call_uuid'] === uuid);
  // A link to a call works regardless of the selected account.
  const { value: owner } = useLoad(uuid, () => ownerOf(chosen, uuid, isStaff));
  const account = text(live?.['account_id']) || owner || chosen;
  const state = live === undefined ? 'over' : text(live['call_status']);
  const record = useLoad(`${account} ${state}`, () => recordOf(account, uuid));
  const log = useLoad(`${account} ${state}`, () =>
    get(`/api/v1/Account/${account}/Call/${uuid}/log`),
  );
  const sounds = useLoad(`${account} ${state}`, () =>
    get(`/api/v1/Account/${account}/Recording/?call_uuid=${uuid}`),
  );
  const { again } = log;
  useEffect(() => {
    if (live === undefined) return undefined;
    const timer = setInterval(again, 3000);
    return () => clearInterval(timer);
  }, [live === undefined, again]);
  const entries = rows(log.value?.['log']);
  const cdr = record.value;
  const isUnknown = live === undefined && cdr === null && entries.length === 0;
  if (isUnknown && log.problem !== undefined) return <NotFound />;
  return (
    <>
      <p>
        <a href="#/calls">← Calls</a>
      </p>
      <h1>
        {text(cdr?.['caller_id_number'] ?? live?.['from'])} →{' '}
        {text(cdr?.['destination_number'] ?? live?.['to'])}
      </h1>
      {live !== undefined && <LivePart account={account} uuid={uuid} live={live} />}
      {cdr && (
        <p class="why">
          <strong>Why it ended.</strong> {whyEnded(cdr)}
        </p>
      )}
      <Problem text={record.problem} />
      {cdr && <DomainServices cdr={cdr} />}
      {cdr && <Curves path={`/api/v1/Account/${account}/Call/${uuid}/quality/samples`} />}
      {rows(sounds.value?.['objects']).map((one) => (
        <Recording key={text(one['recording_id'])} account={account} recording={one} />
      ))}
      <h2>Timeline</h2>
      <Problem text={log.problem} />
      <Timeline entries={entries} />
      <h2>SIP</h2>
      <Ladder entries={entries} />
      {isStaff && (
        <p>
          <Save path={`/admin/v1/calls/${uuid}/messages?format=pcap`} name={`${uuid}.pcap`}>
            Save for Wireshark
          </Save>
        </p>
      )}
      {cdr && <Charges account={account} uuid={uuid} />}
    </>
  );
}

async function ownerOf(chosen: string, uuid: string, isStaff: boolean): Promise<string> {
  if (!isStaff || (await recordOf(chosen, uuid)) !== null) return chosen;
  const accounts = rows((await get('/admin/v1/accounts?limit=100'))['accounts']);
  for (const one of accounts) {
    const id = text(one['auth_id']);
    if (id !== chosen && (await recordOf(id, uuid)) !== null) return id;
  }
  return chosen;
}

function DomainServices({ cdr }: { readonly cdr: Row }) {
  return (
    <Tiles
      of={[
        ['Began', <At key="at" value={cdr['start_time']} />],
        ['Talked', clock(Number(cdr['billsec'] ?? 0))],
        ['Cause', `${text(cdr['hangup_cause_name'])} (${text(cdr['hangup_cause_code'])})`],
        ['MOS', <Mos key="mos" value={cdr['mos']} />],
        ['Jitter', cdr['jitter'] === null ? '' : `${text(cdr['jitter'])} ms`],
        ['Lost', cdr['packet_loss'] === null ? '' : `${text(cdr['packet_loss'])} %`],
        ['Codec', text(cdr['codec'])],
        ['Cost', money(cdr['total_cost'], cdr['currency'])],
      ]}
    />
  );
}

function LivePart({
  account,
  uuid,
  live,
}: {
  readonly account: string;
  readonly uuid: string;
  readonly live: Row;
}) {
  const [url, setUrl] = useState('');
  const { problem, run } = useAction();
  const path = `/api/v1/Account/${account}/Call/${uuid}/`;
  return (
    <section aria-label="Active call">
      <p>
        <State good={live['call_status'] === 'in-progress' || undefined}>
          {text(live['call_status'])}
        </State>{' '}
        for <Since value={live['start_time']} />
      </p>
      <Problem text={problem} />
      <Quality path={`${path}quality`} />
      {may('change') && (
        <div class="row">
          <button
            type="button"
            class="stop"
            onClick={() => confirm('Hang up this call?') && void run(() => call('DELETE', path))}
          >
            Hang up
          </button>
          {live['call_status'] === 'in-progress' && <ListenIn account={account} uuid={uuid} />}
          <form
            class="row"
            onSubmit={onSubmit(
              () =>
                confirm(`Transfer this call to ${url}?`) &&
                void run(() => call('POST', path, { legs: 'aleg', aleg_url: url })),
            )}
          >
            <Input
              label="Transfer to the document at URL"
              type="url"
              value={url}
              set={setUrl}
              required
              wider
            />
            <button type="submit">Transfer</button>
          </form>
        </div>
      )}
      {live['call_status'] === 'in-progress' && <StreamInspector account={account} uuid={uuid} />}
    </section>
  );
}

/** Quality over time of the received audio, and of the sent audio as reported by the peer. */
function Curves({ path }: { readonly path: string }) {
  const { value } = useLoad(path, () => get(path));
  const samples = useMemo(() => rows(value?.['samples']), [value]);
  const times = useMemo(() => samples.map(({ at }) => Date.parse(text(at)) / 1000), [samples]);
  const series = useMemo(() => {
    const of = (name: string, title: string) => ({
      name: title,
      values: samples.map((sample) => number(sample[name])),
    });
    const both = [of('mos', 'MOS'), of('jitter', 'Jitter, ms'), of('packet_loss', 'Lost, %')];
    const isTold = samples.some(({ mos_sent: sent }) => typeof sent === 'number');
    return isTold ? [...both, of('mos_sent', 'MOS at the other side')] : both;
  }, [samples]);
  if (samples.length < 2) return null;
  return (
    <>
      <h2>Quality</h2>
      <Chart
        isOver
        label={`Quality of the call, ${samples.length} samples`}
        times={times}
        series={series}
      />
    </>
  );
}

/** MOS, jitter and loss of an active call, updated every second while the page is open. */
function Quality({ path }: { readonly path: string }) {
  const [seen, setSeen] = useState<readonly Row[]>([]);
  useEffect(() => {
    const look = () =>
      get(path).then(
        (found) =>
          setSeen((before) => [...before, { ...found, at: Date.now() / 1000 }].slice(-600)),
        () => undefined,
      );
    const timer = setInterval(() => void look(), 1000);
    return () => clearInterval(timer);
  }, [path]);
  const times = useMemo(() => seen.map(({ at }) => number(at)), [seen]);
  const series = useMemo(
    () => [
      { name: 'MOS', values: seen.map(({ mos }) => number(mos)) },
      { name: 'Jitter, ms', values: seen.map((one) => number(one['jitter_ms'])) },
    ],
    [seen],
  );
  const last = seen.at(-1);
  if (last === undefined) return null;
  return (
    <>
      <p>
        MOS <Mos value={last['mos']} /> · jitter {text(last['jitter_ms'])} ms ·{' '}
        {text(last['packets_lost'])} of {text(last['packets_received'])} packets lost
      </p>
      <Chart label="MOS and jitter of the active call" times={times} series={series} />
    </>
  );
}

/**
 * Fetches ledger entries that refer to the call, and those of its streams, recordings and transcriptions, whose
 * descriptions contain the call ID.
 */
async function chargesOf(account: string, uuid: string): Promise<readonly Row[]> {
  const path = `/api/v1/Account/${account}/transactions?per_page=1000`;
  const found = await Promise.all([
    get(`${path}&reference=${uuid}`),
    get(`${path}&description=${uuid}`),
  ]);
  const entries = found.flatMap((page) => rows(page['transactions']));
  return [...new Map(entries.map((entry) => [text(entry['id']), entry])).values()];
}

function Charges({ account, uuid }: { readonly account: string; readonly uuid: string }) {
  const { value, problem } = useLoad(uuid, () => chargesOf(account, uuid));
  return (
    <>
      <h2>Money</h2>
      <Problem text={problem} />
      <Table
        name="Ledger entries of the call"
        rows={value}
        empty="No charges for this call."
        columns={[
          { title: 'When', value: (row) => <At value={row['created_at']} /> },
          { title: 'Description', value: (row) => text(row['description']) },
          {
            title: 'Amount',
            value: (row) => money(row['amount'], row['currency']),
            isNumber: true,
          },
        ]}
      />
    </>
  );
}
