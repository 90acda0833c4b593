import { useEffect } from 'preact/hooks';
import { allOf, get, getIfAny, type Row, rows, text } from '../api.ts';
import { clock, money, words } from '../format.ts';
import { useLive, useLoad } from '../hooks.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { whyEnded } from '../reasons.ts';
import { t } from '../text.ts';
import { Save } from '../ui/form.tsx';
import {
  At,
  Card,
  CopyText,
  Facts,
  Head,
  LoadProblem,
  Mos,
  NotFound,
  Skeleton,
  Tiles,
} from '../ui/parts.tsx';
import { BundleButton } from './bundle.tsx';
import { CampaignOf } from './call-campaign.tsx';
import { endTone } from './call-end.ts';
import { LivePart } from './call-live.tsx';
import { Charges, LinkedLegs } from './call-money.tsx';
import { Curves } from './call-quality.tsx';
import { Conversation } from './conversation.tsx';
import { Deliveries } from './deliveries.tsx';
import { Ladder } from './ladder.tsx';
import { Recording } from './recording.tsx';
import { ExecutedDocument, Timeline } from './timeline.tsx';

interface Props extends PageProps {
  readonly uuid: string;
}

/** Fetches the CDR, which exists only after the call has ended. */
const recordOf = (account: string, uuid: string): Promise<Row | null> =>
  getIfAny(`/api/v1/Account/${account}/cdr/${uuid}`).then((found) =>
    found === undefined ? null : ((found['data'] ?? found) as Row),
  );

const LIVE_MS = 3000;

/** The running call, its record, its log and its recordings. */
function useCall({ account: chosen, uuid, isStaff }: Props) {
  const feed = useLive();
  const fed = feed.calls.find((one) => one['call_uuid'] === uuid);
  // The feed has a part of the calls of a busy service.
  const isPart = fed === undefined && feed.total > feed.calls.length;
  const other = useLoad(
    `${uuid} ${isPart}`,
    (): Promise<Row> =>
      isPart ? get(`/console/api/live-calls?search=${uuid}&limit=1`) : Promise.resolve({}),
    isPart ? LIVE_MS : undefined,
  );
  const live = fed ?? rows(other.value?.['calls'])[0];
  // A link to a call works regardless of the selected account.
  const owner = useLoad(uuid, () => ownerOf(chosen, uuid, isStaff));
  const account = text(live?.['account_id']) || owner.value || chosen;
  const state = live === undefined ? 'over' : text(live['call_status']);
  const record = useLoad(`${account} ${state}`, () => recordOf(account, uuid));
  const log = useLoad(`${account} ${state}`, () =>
    get(`/api/v1/Account/${account}/Call/${uuid}/log`),
  );
  const sounds = useLoad(`${account} ${state}`, () =>
    allOf(`/api/v1/Account/${account}/Recording/?call_uuid=${uuid}`),
  );
  const { again } = log;
  useEffect(() => {
    if (live === undefined) return undefined;
    const timer = setInterval(again, LIVE_MS);
    return () => clearInterval(timer);
  }, [live === undefined, again]);
  return { live, owner, account, record, log, sounds };
}

/** Returns the end of the timeline in milliseconds: the end of the call, or now. Undefined while loading. */
function endMsOf(cdr: Row | null | undefined, live: Row | undefined): number | undefined {
  if (cdr) return Date.parse(text(cdr['end_time']));
  return live === undefined ? undefined : Date.now();
}

export function CallPage(props: Props) {
  const { uuid, isStaff, me } = props;
  const { live, owner, account, record, log, sounds } = useCall(props);
  const entries = rows(log.value?.['log']);
  const cdr = record.value;
  const isUnknown = live === undefined && cdr === null && entries.length === 0;
  if (isUnknown && owner.value !== undefined && log.problem !== undefined) return <NotFound />;
  const isLoading = live === undefined && cdr === undefined && record.problem === undefined;
  return (
    <>
      <CallHead
        account={account}
        uuid={uuid}
        isStaff={isStaff}
        cdr={cdr ?? undefined}
        live={live}
      />
      {isLoading && <Skeleton />}
      <LoadProblem of={owner} />
      <LoadProblem of={record} />
      {live !== undefined && <LivePart account={account} uuid={uuid} live={live} />}
      {cdr && <WhyEnded cdr={cdr} />}
      {cdr && <CallTiles cdr={cdr} />}
      <LoadProblem of={log} />
      <Conversation entries={entries} cdr={cdr} />
      <Card title={t('Timeline')}>
        {log.value === undefined && log.problem === undefined ? (
          <Skeleton />
        ) : (
          <Timeline entries={entries} endMs={endMsOf(cdr, live)} />
        )}
      </Card>
      {cdr && <Curves path={`/api/v1/Account/${account}/Call/${uuid}/quality/samples`} />}
      <LoadProblem of={sounds} />
      {sounds.value?.map((one) => (
        <Recording key={text(one['recording_id'])} account={account} recording={one} />
      ))}
      {entries.some(({ kind }) => kind === 'xml') && (
        <Card title={t('Document')}>
          <ExecutedDocument entries={entries} />
        </Card>
      )}
      <Card title={t('Callbacks')} flush>
        <Deliveries account={account} callUuid={uuid} entries={entries} />
      </Card>
      <Card title={t('SIP')}>
        <Ladder entries={entries} platform={me.platform} />
      </Card>
      <div class="columns">
        {cdr && <Details cdr={cdr} />}
        {cdr && <LinkedLegs account={account} cdr={cdr} />}
        {text(cdr?.['campaign_id'] ?? live?.['campaign_id']) !== '' && (
          <CampaignOf account={account} uuid={uuid} />
        )}
      </div>
      {cdr && <Charges account={account} uuid={uuid} cdr={cdr} />}
    </>
  );
}

interface HeadProps {
  readonly account: string;
  readonly uuid: string;
  readonly isStaff: boolean;
  /** undefined while the call is running or its record is loading. */
  readonly cdr: Row | undefined;
  /** undefined unless the call is running. */
  readonly live: Row | undefined;
}

function CallHead({ account, uuid, isStaff, cdr, live }: HeadProps) {
  const from = text(cdr?.['caller_id_number'] ?? live?.['from']);
  const to = text(cdr?.['destination_number'] ?? live?.['to']);
  return (
    <Head
      title={from === '' && to === '' ? t('Call') : `${from} → ${to}`}
      about={<CopyText value={uuid} />}
    >
      {isStaff && (
        <Save path={`/admin/v1/calls/${uuid}/messages?format=pcap`} name={`${uuid}.pcap`}>
          {t('Download pcap')}
        </Save>
      )}
      <BundleButton account={account} uuid={uuid} isStaff={isStaff} cdr={cdr} />
    </Head>
  );
}

/** Returns the account of the call. The selected account may be another one; for an unknown call it is returned. */
const ownerOf = (chosen: string, uuid: string, isStaff: boolean): Promise<string> =>
  isStaff
    ? getIfAny(`/admin/v1/calls/${uuid}/account`).then((found) => text(found?.['account_id']))
    : Promise.resolve(chosen);

const WhyEnded = ({ cdr }: { readonly cdr: Row }) => (
  <div class={`why ${endTone(cdr)}`}>
    <strong>{t('Why the call ended')}</strong>
    <span>{whyEnded(cdr)}</span>
    {cdr['one_way_audio'] === true && (
      <span class="text-bad">
        {t(
          'The audio was one-way. Compare the addresses in the SDP with those in the RTP events of the timeline.',
        )}
      </span>
    )}
  </div>
);

const unitOf = (value: unknown, unit: string): string =>
  value === null || value === undefined ? '' : `${text(value)} ${unit}`;

function CallTiles({ cdr }: { readonly cdr: Row }) {
  return (
    <Tiles
      of={[
        { name: t('Start'), value: <At value={cdr['start_time']} /> },
        {
          name: t('Answered time'),
          value: clock(Number(cdr['billsec'] ?? 0)),
          note: t('Ringing {s} s', { s: text(cdr['ring_time']) }),
        },
        { name: t('MOS'), value: <Mos value={cdr['mos']} />, note: text(cdr['codec']) },
        { name: t('Jitter'), value: unitOf(cdr['jitter'], 'ms') },
        { name: t('Packet loss'), value: unitOf(cdr['packet_loss'], '%') },
        { name: t('Cost'), value: money(cdr['total_cost'], cdr['currency']) },
      ]}
    />
  );
}

function Details({ cdr }: { readonly cdr: Row }) {
  const copy = (name: string) =>
    cdr[name] == null || cdr[name] === '' ? '' : <CopyText value={text(cdr[name])} />;
  const campaign = text(cdr['campaign_id']);
  return (
    <Card title={t('Details')}>
      <Facts
        of={[
          [t('Call UUID'), copy('uuid')],
          [t('SIP Call-ID'), copy('sip_call_id')],
          [t('Account'), copy('account_id')],
          [t('Direction'), words(cdr['call_direction'])],
          [t('Context'), text(cdr['context'])],
          [t('Caller name'), text(cdr['caller_id_name'])],
          [
            t('End cause'),
            `${text(cdr['hangup_cause_name'])} (${text(cdr['hangup_cause_code'])}, ${text(cdr['hangup_source'])})`,
          ],
          [t('SIP user agent'), text(cdr['sip_user_agent'])],
          [t('Peer address'), copy('network_addr')],
          [t('Carrier address'), copy('carrier_ip')],
          [t('Trunk'), copy('trunk_id')],
          [t('Endpoint'), copy('customer_endpoint')],
          [
            t('Campaign'),
            campaign === '' ? '' : <a href={href(`campaigns/${campaign}`)}>{campaign}</a>,
          ],
          [t('Caller identity (STIR)'), text(cdr['stir_verification'])],
          [t('Round trip'), unitOf(cdr['round_trip_time'], 'ms')],
          [t('MOS reported by the peer'), text(cdr['mos_sent'])],
          [t('End of call'), <At key="end" value={cdr['end_time']} />],
        ]}
      />
    </Card>
  );
}
