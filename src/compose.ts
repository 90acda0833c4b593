/** Builds and connects all modules. With `service/join`, the only place that binds interfaces to classes. */
import { join, resolve } from 'node:path';
import { inspect } from 'node:util';
import { isBug } from './base/errors.ts';
import { systemRandom } from './base/system-random.ts';
import type { Examined } from './config/load.ts';
import type { Settings } from './config/schema.ts';
import { Serviceability } from './domain/cluster/cluster.ts';
import { shareControl } from './domain/dispatch/dispatch.ts';
import { systemClock } from './edge/clock/system-clock.ts';
import { createOutputLogger, type LeveledLogger } from './edge/log/pino-logger.ts';
import { createMailer } from './edge/mail/mailer.ts';
import { createMetrics } from './edge/metrics/metrics.ts';
import { createSignedLinks } from './edge/rest/links.ts';
import { startBanner } from './service/banner.ts';
import { CampaignJob } from './service/campaign-job.ts';
import { type Component, Components } from './service/components.ts';
import { SERVICE_FILE, writeSecret } from './service/data-folder.ts';
import { DescriptorWatch } from './service/descriptors.ts';
import { firstStart } from './service/first-start.ts';
import { Housekeeping } from './service/housekeeping.ts';
import { joinApi } from './service/join/api.ts';
import { type Calls, joinCalls } from './service/join/calls.ts';
import { joinCampaigns } from './service/join/campaigns.ts';
import { joinCluster } from './service/join/cluster.ts';
import { joinExporter } from './service/join/exporter.ts';
import { type Basics, layFoundation } from './service/join/foundation.ts';
import { openLines } from './service/join/lines.ts';
import { joinLowBalance } from './service/join/low-balance.ts';
import { joinReports, joinWatches, type Monitored } from './service/join/monitoring.ts';
import { joinLeaving } from './service/join/objects.ts';
import { joinRenewals } from './service/join/renewals.ts';
import { restSettings } from './service/join/rest-settings.ts';
import { joinTexts } from './service/join/texts.ts';
import { joinTranscriptions } from './service/join/transcriptions.ts';
import { PortListeners } from './service/listeners.ts';
import type { OperatorLists } from './service/operator-lists.ts';
import { Reloader } from './service/reload.ts';
import { derive } from './service/settings.ts';
import { warmSounds } from './service/sounds.ts';
import { Supervisor, type SupervisorPlace } from './service/supervisor.ts';

export interface Service {
  /** Text with links and the number to dial, to print at the start. */
  readonly banner: string;
  /** Accepts no new calls, lets active calls end within the drain limit, then closes everything. */
  stop(): Promise<void>;
  /** Applies changed settings that need no restart. Logs applied and rejected changes. */
  reload(): void;
  /** Logs and counts a promise rejection without a handler. It is a bug of one call or request; the others continue. */
  unhandledRejection(reason: unknown): void;
}

export interface ServiceStart {
  readonly settings: Settings;
  readonly lists: OperatorLists;
  /** Project folder, which contains `config/`. */
  readonly root: string;
  /** Reads the current settings from file and environment. */
  readonly examine: () => Examined;
  /** Process supervisor that started the service (systemd), for readiness and watchdog messages. */
  readonly supervisor: SupervisorPlace;
  /** Environment of programs that the service starts. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Time at shutdown for callbacks in flight, in ms. The next start delivers the rest. */
const CALLBACK_GRACE_MS = 2000;
/** Time at shutdown to settle calls, in ms. With a full disk, calls stay open in the store; the next start settles them. */
const SETTLING_GRACE_MS = 10_000;
/** Time at shutdown to finish recording files, in ms. The next start finishes the rest. */
const RECORDING_GRACE_MS = 10_000;

export async function startService(start: ServiceStart): Promise<Service> {
  const { settings, lists } = start;
  const basics: Basics & { readonly logger: LeveledLogger } = {
    settings,
    lists,
    dataDir: resolve(settings.dataDir),
    logger: createOutputLogger(settings.logLevel, settings.logFormat),
    clock: systemClock,
    random: systemRandom,
  };
  const parts = buildParts(await openOutside(basics), { ...start, logger: basics.logger });
  const { logger } = basics;
  const interrupted = await parts.foundation.recordings.interrupted();
  let first: Awaited<ReturnType<typeof firstStart>>;
  const components = new Components(
    [
      ...connections(parts),
      ...periodicWork(parts, interrupted),
      { name: 'first start', start: async () => (first = await createFirst(parts)) },
      ...callWork(parts),
    ],
    logger,
  );
  await components.start();
  return {
    banner: await startBanner({ ...basics, ...parts.foundation, first, ...addressesOf(parts) }),
    async stop() {
      await components.stop();
      logger.info({}, 'stopped');
    },
    reload() {
      parts.supervisor.reloading();
      void parts.reloader
        .reload()
        .catch((error: unknown) => logger.error({ error }, 'settings not reloaded'))
        .finally(() => parts.supervisor.reloaded());
    },
    unhandledRejection(reason) {
      const error = isBug(reason) ? reason : new Error(inspect(reason));
      parts.metrics.unhandledRejection();
      logger.error({ error }, 'unhandled promise rejection');
    },
  };
}

/** Opens the store and builds the connections to other systems. */
async function openOutside(basics: Basics): Promise<Monitored> {
  const { settings, dataDir, clock } = basics;
  const derived = derive(settings);
  const metrics = createMetrics({ process: true });
  const serviceability = new Serviceability(clock);
  const descriptors = new DescriptorWatch({
    ...basics,
    onChange: serviceability.of('descriptors'),
  });
  const foundation = await layFoundation(basics);
  const cluster = await joinCluster(basics, foundation);
  const lines = await openLines(basics, foundation, derived, metrics, { cluster, descriptors });
  const mailer = createMailer({
    ...basics,
    ...settings.mail,
    outboxFolder: join(dataDir, 'outbox'),
  });
  const leaving = joinLeaving(basics, foundation);
  const monitored = { basics, foundation, derived, lines, cluster, serviceability, descriptors };
  return { ...monitored, leaving, mailer, metrics };
}

type Parts = ReturnType<typeof buildParts>;
type StartWithLog = ServiceStart & { readonly logger: LeveledLogger };

/** Builds all parts that carry out the work. None of them acts before its component starts. */
function buildParts(outside: Monitored, start: StartWithLog) {
  const { logger } = start;
  const { basics, foundation, derived, lines, cluster, mailer } = outside;
  const { settings, clock } = basics;
  const rest = restSettings(basics, derived);
  const links = createSignedLinks(rest, clock);
  const exporter = joinExporter(outside, rest, links);
  joinRenewals(foundation, { callbacks: lines.callbacks, mailer, logger });
  const reports = joinReports(outside);
  const alerts = joinLowBalance(outside, reports);
  const transcriptions = joinTranscriptions(basics, foundation, lines, derived);
  const callLines = { ...lines, transcriptions, ...clusterLines(outside) };
  const calls = joinCalls(basics, foundation, callLines, derived, links, reports.settled);
  const { campaigns, dialer, campaignJob } = campaignsOf(outside, calls);
  const housekeeping = new Housekeeping({
    ...basics,
    ...foundation,
    forgetLists: () => campaigns.forgetUploads(),
  });
  pauseWithConditions(outside, calls);
  const watches = joinWatches(outside, calls.callBilling, reports);
  const { ledger, provisioning } = foundation;
  const reloader = new Reloader({ ...start, logger, ledger, carriers: provisioning.carriers });
  const { server, operations, credentialUses } = joinApi({
    ...outside,
    calls,
    control: cluster === undefined ? calls.control : shareControl(calls.control, cluster.peers),
    campaigns,
    transcriptions,
    exporter,
    reports,
    watches,
    reloader,
    rest,
    start,
  });
  reloader.onCertificates(() => server.reloadCertificate());
  reloader.onCertificates(() => lines.sipIdentity.reload());
  reloader.onCertificates(() => lines.proofs.reload?.());
  acceptFromSip(outside, calls);
  const listeners = new PortListeners({
    lines,
    server,
    publicUrl: derived.publicUrl,
    demo: settings.demo,
    logger,
    sipIsOpen: () => cluster?.shared.bindings.listen(lines.signalling),
  });
  const supervisor = new Supervisor({
    ...start.supervisor,
    clock,
    logger,
    isWell: () => lines.media.status().ready,
  });
  const dialling = { campaigns, dialer, campaignJob };
  const work = { exporter, alerts, transcriptions, calls, housekeeping, ...dialling };
  const running = { reports, watches, reloader, operations, listeners, supervisor };
  return { ...outside, logger, credentialUses, ...work, ...running };
}

/** Limits, directory and conferences that calls share with other nodes. Empty without a cluster. */
function clusterLines({ cluster, derived, lines }: Monitored) {
  if (cluster === undefined) return {};
  const { slots, directory, claims, lease } = cluster.shared;
  const port = (): number => lines.signalling.port();
  const otherNodes = { ...cluster, claims, host: derived.sipNodeHost, port };
  return { slots, directory, lease, otherNodes };
}

/** Campaigns and their dialer. A node that drains stops dialing, and passes the job to another node. */
function campaignsOf(
  { basics, foundation, lines, cluster }: Monitored,
  { paced, admission }: Calls,
) {
  const joined = joinCampaigns(basics, foundation, {
    paced,
    onFree: (act) => admission.onFree(act),
    callbacks: lines.callbacks,
    share: cluster && ((own) => cluster.shareDialer(own)),
  });
  const { logger, clock } = basics;
  const { dialer } = joined;
  const { nodes } = foundation.store;
  const living = cluster && (() => cluster.living());
  const job = new CampaignJob({ nodes, dialer, admission, clock, logger, living });
  admission.onDrain(() => {
    dialer.drain();
    job.release();
  });
  return { ...joined, campaignJob: job };
}

/** Refuses new calls and SIP requests while a condition makes this node unserviceable. */
function pauseWithConditions({ serviceability, lines }: Monitored, { admission }: Calls): void {
  serviceability.onChange((cause) => {
    admission.pause(cause);
    lines.signalling.pause(cause);
  });
}

/** Passes incoming calls and messages from SIP to their modules. */
function acceptFromSip({ basics, foundation, lines, derived }: Monitored, calls: Calls): void {
  const texts = joinTexts(basics, foundation, lines, derived);
  lines.signalling.onInbound((leg) => calls.inbound.accept(leg));
  lines.signalling.texts.onText((text) => texts.accept(text));
}

/** The components that connect this node to other systems, from the store to the open ports. */
function connections(parts: Parts): readonly Component[] {
  const { foundation, cluster, lines, calls, watches, supervisor, mailer, reports } = parts;
  return [
    { name: 'store', stop: () => foundation.store.close() },
    { name: 'cluster', stop: () => cluster?.leave() },
    { name: 'webhook deliveries', stop: () => lines.deliveries.close() },
    { name: 'uses of credentials', stop: () => parts.credentialUses.flush() },
    { name: 'requests to customers', stop: () => lines.http.close() },
    { name: 'audio streams', stop: () => lines.streams.stop() },
    { name: 'media', stop: () => lines.media.stop() },
    { name: 'call records', stop: () => calls.callBilling.stop() },
    { name: 'supervisor', stop: () => supervisor.stop() },
    { name: 'mail', stop: () => mailer.close() },
    { name: 'HEP export', stop: () => lines.hep?.stop() },
    { name: 'trace export', stop: () => reports.callTraces?.stop() },
    { name: 'recording exports', stop: () => parts.exporter.stop() },
    {
      name: 'ports',
      start: () => parts.listeners.start(),
      stop: () => parts.listeners.stop(),
    },
    {
      name: 'overload control',
      start: () => watches.overload.start(),
      stop: () => watches.overload.stop(),
    },
  ];
}

/** Adopts the work that an earlier run or a dead node left, and starts the periodic work. */
function periodicWork(
  parts: Parts,
  interrupted: Awaited<ReturnType<Parts['foundation']['recordings']['interrupted']>>,
): readonly Component[] {
  const { lines, calls, watches, dialer, logger } = parts;
  const { callBilling, outbound, admission } = calls;
  const { callbacks } = lines;
  const adopt = async (): Promise<void> => {
    await callbacks.resume();
    parts.exporter.wake();
    await parts.campaignJob.take();
  };
  const inBackground = (work: Promise<unknown>, failure: string): void => {
    work.catch((error: unknown) => logger.error({ error }, failure));
  };
  const periodic = (name: string, part: Required<Omit<Component, 'name'>> | undefined) => ({
    name,
    start: () => part?.start(),
    stop: () => part?.stop(),
  });
  parts.foundation.store.onUnknownOutcome(() => callbacks.lookAgain());
  return [
    { name: 'orphaned work', start: adopt },
    {
      name: 'cluster membership',
      start: () =>
        parts.cluster?.start({
          callBilling,
          outbound,
          admission,
          callbacks,
          fenced: parts.serviceability.of('fenced'),
          adopt,
          relinquish: () => dialer.stop(),
        }),
    },
    {
      name: 'interrupted work',
      start() {
        inBackground(parts.campaigns.forgetUploads(), 'unfinished uploads not deleted');
        calls.recorder.recover(interrupted);
        inBackground(parts.transcriptions.recover(), 'transcriptions not resumed');
        inBackground(parts.alerts.notify(), 'low balances not reported');
      },
    },
    periodic('campaigns', parts.campaignJob),
    periodic('housekeeping', parts.housekeeping),
    periodic('memory', watches.memory),
    periodic('store check', watches.store),
    periodic('descriptor check', parts.descriptors),
    periodic('Redis check', watches.redis),
    periodic('offload', parts.leaving),
    periodic('alarms', parts.reports.alarms),
    periodic('quality samples', watches.sampling),
  ];
}

/** Writes the file for local programs and creates the resources of the first start. */
function createFirst(parts: Parts): ReturnType<typeof firstStart> {
  const { basics, foundation, listeners } = parts;
  const { settings, dataDir } = basics;
  const file = { url: listeners.url, pid: process.pid };
  writeSecret(join(dataDir, SERVICE_FILE), `${JSON.stringify(file)}\n`);
  return firstStart({ ...basics, ...foundation, ...addressesOf(parts) }, settings.demo);
}

/** Addresses of the node for people and phones. */
function addressesOf({ basics, derived, listeners }: Parts) {
  return {
    sip: { host: derived.sipPublicHost, port: listeners.sipPort },
    baseUrl: basics.settings.publicUrl === '' ? listeners.url : derived.publicUrl,
  };
}

/** Reports readiness; at the stop, ends the calls and finishes their work. */
function callWork(parts: Parts): readonly Component[] {
  const { basics, lines, calls, supervisor, listeners, logger } = parts;
  const { callBilling, recorder } = calls;
  const { drainMs } = basics.settings.calls;
  return [
    { name: 'callbacks', stop: () => lines.callbacks.close(CALLBACK_GRACE_MS) },
    {
      name: 'recorder',
      start: () => void warmSounds(lines, lines.holdMusic),
      stop: () => recorder.idle(RECORDING_GRACE_MS),
    },
    {
      name: 'calls',
      async stop() {
        parts.operations.drain();
        await parts.housekeeping.drain(callBilling, drainMs);
        await Promise.race([callBilling.idle(), basics.clock.sleep(SETTLING_GRACE_MS)]);
      },
    },
    {
      name: 'readiness',
      start() {
        const { url, sipPort } = listeners;
        const sip = `${basics.settings.sip.host}:${sipPort}`;
        supervisor.ready(`${url}, SIP ${sip}`);
        logger.info({ url, sip }, 'carillon is up');
      },
      stop() {
        logger.info({ calls: callBilling.live().length, limitMs: drainMs }, 'draining');
        supervisor.stopping('waiting for active calls to end');
      },
    },
  ];
}
