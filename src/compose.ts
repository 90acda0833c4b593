/** Builds and connects all modules. With `service/join`, the only place that binds interfaces to classes. */
import { join, resolve } from 'node:path';
import { secretsEqual } from './base/hash.ts';
import { systemRandom } from './base/system-random.ts';
import type { Examined } from './config/load.ts';
import type { Settings } from './config/schema.ts';
import { startDemo } from './demo/demo.ts';
import type { Cdr } from './domain/cdr/types.ts';
import { Serviceability } from './domain/cluster/cluster.ts';
import { shareControl } from './domain/dispatch/dispatch.ts';
import { isLow, LowBalanceAlerts } from './domain/ledger/ledger.ts';
import { createExporter } from './edge/archive/exporter.ts';
import { systemClock } from './edge/clock/system-clock.ts';
import { createLogger } from './edge/log/pino-logger.ts';
import { createMailer } from './edge/mail/mailer.ts';
import { createMetrics } from './edge/metrics/metrics.ts';
import { createSignedLinks } from './edge/rest/links.ts';
import { createLiveFeed, createRestServer } from './edge/rest/server.ts';
import { Alarms } from './service/alarms.ts';
import { startBanner } from './service/banner.ts';
import {
  ADMIN_TOKEN_FILE,
  SERVICE_FILE,
  storedSecret,
  writeSecret,
} from './service/data-folder.ts';
import { DescriptorWatch } from './service/descriptors.ts';
import { firstStart } from './service/first-start.ts';
import { Housekeeping } from './service/housekeeping.ts';
import { joinCalls } from './service/join/calls.ts';
import { joinCampaigns } from './service/join/campaigns.ts';
import { joinCluster } from './service/join/cluster.ts';
import { type Basics, layFoundation } from './service/join/foundation.ts';
import { openLines } from './service/join/lines.ts';
import { joinLeaving } from './service/join/objects.ts';
import { joinRenewals } from './service/join/renewals.ts';
import { restSettings } from './service/join/rest-settings.ts';
import { joinTexts } from './service/join/texts.ts';
import { joinTraces } from './service/join/traces.ts';
import { joinTranscriptions } from './service/join/transcriptions.ts';
import { CallListening } from './service/listen-in/call-listening.ts';
import { SharedCallListening } from './service/listen-in/shared-call-listening.ts';
import { liveCallsView } from './service/live-calls.ts';
import { Measuring } from './service/measuring.ts';
import { MediaReports } from './service/media-reports.ts';
import { Memory, quietLoop, v8Heap } from './service/memory.ts';
import { createOperations, VERSION } from './service/operations.ts';
import type { OperatorLists } from './service/operator-lists.ts';
import { loopUtilisation, OverloadWatch } from './service/overload.ts';
import { QualitySampling } from './service/quality-sampling.ts';
import { RedisWatch } from './service/redis-watch.ts';
import { Reloader } from './service/reload.ts';
import { derive } from './service/settings.ts';
import { shareLiveCalls } from './service/shared-live-calls.ts';
import { warmSounds } from './service/sounds.ts';
import { StoreWatch } from './service/store-watch.ts';
import { Supervisor, type SupervisorPlace } from './service/supervisor.ts';

export interface Service {
  /** Text with links, the number to dial and how to stop. The first start adds credentials. */
  readonly banner: string;
  /** Accepts no new calls, lets active calls end within the drain limit, then closes everything. */
  stop(): Promise<void>;
  /** Applies changed settings that need no restart. Logs applied and rejected changes. */
  reload(): void;
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
}

/** Time at shutdown for callbacks in flight, in ms. The next start delivers the rest. */
const CALLBACK_GRACE_MS = 2000;
/** Time at shutdown to settle calls, in ms. With a full disk, calls stay open in the store; the next start settles them. */
const SETTLING_GRACE_MS = 10_000;
/** Time at shutdown to finish recording files, in ms. The next start finishes the rest. */
const RECORDING_GRACE_MS = 10_000;

export async function startService(start: ServiceStart): Promise<Service> {
  const { settings, lists } = start;
  const logger = createLogger(settings.logLevel, undefined, settings.logFormat);
  const dataDir = resolve(settings.dataDir);
  const machine = { clock: systemClock, random: systemRandom };
  const basics: Basics = { settings, lists, dataDir, logger, ...machine };
  const derived = derive(settings);
  const metrics = createMetrics({ process: true });
  const measuring = new Measuring(metrics);

  // Replaced once the modules that accept calls exist.
  let pauseCalls: (cause: string | undefined) => void = () => undefined;
  const serviceability = new Serviceability({ ...basics, onChange: (cause) => pauseCalls(cause) });
  const onChange = serviceability.of('descriptors');
  const descriptors = new DescriptorWatch({ ...basics, onChange });
  const foundation = await layFoundation(basics);
  const cluster = await joinCluster(basics, foundation);
  const lines = await openLines(basics, foundation, derived, metrics, { cluster, descriptors });
  const { signalling, media, callbacks, streams } = lines;
  const rest = restSettings(basics, derived);
  const links = createSignedLinks(rest, systemClock);
  const outboxFolder = join(dataDir, 'outbox');
  const mailer = createMailer({ ...basics, ...settings.mail, outboxFolder });
  const leaving = joinLeaving(basics, foundation);
  const offloadWaiting = (): number => leaving.waiting();
  const exporter = createExporter({
    ...basics,
    elsewhere: leaving.elsewhere,
    ...rest,
    recordings: foundation.recordings,
    mailer,
    linkTo: (job) => links.toExport(job.accountId, job.exportId),
  });
  const alerts = new LowBalanceAlerts({
    store: foundation.store.ledger,
    recipients: (accountId) => foundation.accounts.get(accountId),
    notify: (draft) => callbacks.notify(draft),
    operator: (alert) => alarms.lowBalance(alert),
    mail: (mail) => mailer.send(mail),
    logger,
  });
  foundation.store.onLowBalance(() => void alerts.notify());
  joinRenewals(foundation, { callbacks, mailer, logger });
  const alarms = new Alarms({
    ...basics,
    settings: settings.alarms,
    node: new URL(derived.publicUrl).host,
    nodeId: foundation.self.id,
    certificates: {
      'http.tlsCertFile': settings.http.tlsCertFile,
      'sip.tlsCertFile': settings.sip.tlsCertFile,
    },
    carriers: () => signalling.carrierStates(),
    ledger: foundation.ledger,
    isLow: async (accountId, currency) => {
      const balance = await foundation.store.ledger.balance(accountId, currency);
      return balance !== undefined && isLow(balance);
    },
    unreadableRows: async () =>
      (await foundation.store.unreadableRows.page({ limit: 1, offset: 0 })).total,
    marks: foundation.store.settings,
    mailer,
    conditions: () => serviceability.conditions,
    spooled: () => foundation.store.spooled(),
    offloadWaiting,
  });
  const callTraces = joinTraces(basics, lines, VERSION);
  const onSettled = (cdr: Cdr): void => {
    measuring.observe(cdr);
    alarms.observe(cdr);
    callTraces?.ended(cdr);
    reports?.ended(cdr);
  };
  const transcriptions = joinTranscriptions(basics, foundation, lines, derived);
  const { slots, directory } = cluster?.shared ?? {};
  const otherNodes = cluster && {
    ...cluster,
    claims: cluster.shared.claims,
    host: derived.sipNodeHost,
    port: () => signalling.port(),
  };
  const callLines = { ...lines, transcriptions, slots, directory, otherNodes };
  const calls = joinCalls(basics, foundation, callLines, derived, links, onSettled);
  const { callBilling, admission, inbound, recorder, paced } = calls;
  const control =
    cluster === undefined ? calls.control : shareControl(calls.control, cluster.peers);
  const reports =
    lines.hep === undefined || !settings.hep.mediaReports
      ? undefined
      : new MediaReports(lines.hep, systemClock);
  const { campaigns, dialer } = joinCampaigns(basics, foundation, {
    paced,
    callbacks,
    onFree: (act) => admission.onFree(act),
    share: cluster && ((own) => cluster.shareDialer(own)),
  });
  const forgetLists = (): Promise<void> => campaigns.forgetUploads();
  const housekeeping = new Housekeeping({ ...basics, ...foundation, forgetLists });
  const sampling = new QualitySampling({
    ...basics,
    calls: () => callBilling.live(),
    sampled: (call, quality) => reports?.sampled(call, quality),
  });
  admission.onDrain(() => dialer.stop());
  const quiet = quietLoop();
  const isIdle = (): boolean => quiet.isIdle() && callBilling.liveCount === 0;
  const memory = new Memory({ ...basics, ...quiet, isIdle, heap: v8Heap() });
  const callsLimit = settings.calls.maxConcurrent;
  pauseCalls = (cause) => {
    admission.pause(cause);
    signalling.pause(cause);
  };
  const storeWatch = new StoreWatch({
    ...basics,
    ...foundation,
    isRemote: settings.store.url !== '',
    inUse: () => callBilling.liveCount > 0,
    onChange: serviceability.of('store'),
  });
  const redisWatch =
    cluster === undefined || settings.cluster.withoutRedisPercent > 0
      ? undefined
      : new RedisWatch({
          ...basics,
          redis: cluster.shared.redis,
          onChange: serviceability.of('redis'),
        });
  const overload = new OverloadWatch({
    clock: systemClock,
    logger,
    limits: settings.overload,
    newCalls: lines.newCalls,
    storeQueue: () => foundation.store.waiting(),
    sipWaitMs: () => signalling.waitMs(),
    mediaBusy: () => media.busy(),
    utilisation: loopUtilisation(),
  });
  const { newCalls } = lines;
  const clusterState = {
    living: () => cluster?.living(),
    leaseMs: () => cluster?.shared.lease.remainingMs,
    offloadWaiting,
  };
  measuring.connect({
    callBilling,
    signalling,
    media,
    streams,
    callsLimit,
    overload,
    newCalls,
    alarms,
    hep: lines.hep,
    store: foundation.store,
    traces: lines.traces,
    version: VERSION,
    serviceability,
    self: foundation.self,
    ...clusterState,
    descriptors,
  });
  const reloader = new Reloader({
    ...start,
    logger,
    ledger: foundation.ledger,
    carriers: foundation.provisioning.carriers,
    certificates: [
      () => server.reloadCertificate(),
      () => lines.sipIdentity.reload(),
      () => lines.proofs.reload?.(),
    ],
  });
  const operations = createOperations({
    reload: () => reloader.reload(),
    alarms,
    storeWatch,
    serviceability,
    ...clusterState,
    ...foundation,
    ...lines,
    callBilling,
    admission,
    metrics,
    clock: systemClock,
    dataDir,
    callsLimit,
    overload,
  });
  const adminToken = settings.adminToken || storedSecret(dataDir, ADMIN_TOKEN_FILE, systemRandom);
  const callsHere = liveCallsView(callBilling, lines.logs, lines.traces);
  const calling = cluster === undefined ? callsHere : shareLiveCalls(callsHere, cluster.peers);
  const watched = { callBilling, watches: streams.watches, clock: systemClock };
  const own = new CallListening(watched);
  const server = createRestServer({
    ...basics,
    drafts: lines.drafts,
    deliveries: lines.deliveries,
    callListening: cluster ? new SharedCallListening({ ...basics, ...cluster, own }) : own,
    liveFeed: createLiveFeed(systemClock, calling),
    ...foundation,
    control,
    operations,
    recordingObjects: leaving.elsewhere,
    signingTokens: foundation.store.signingTokens,
    onExportQueued: () => exporter.wake(),
    campaigns,
    transcriptions,
    liveCalls: calling,
    isAdminToken: (token) => secretsEqual(token, adminToken),
    isScrapeToken: (token) =>
      settings.http.metricsToken !== '' && secretsEqual(token, settings.http.metricsToken),
    takeUpgrade: (...upgrade) => signalling.upgrade(...upgrade),
    settings: rest,
  });

  const interrupted = await foundation.recordings.interrupted();
  signalling.onInbound((leg) => inbound.accept(leg));
  const texts = joinTexts(basics, foundation, lines, derived);
  signalling.texts.onText((text) => texts.accept(text));
  await signalling.start();
  cluster?.shared.bindings.listen(signalling);
  const unwatch = lines.sipIdentity.watch();
  const { url } = await server.start();
  for (const own of [url, derived.publicUrl]) lines.listensOn(own);
  const demo = settings.demo ? await startDemo({ host: '127.0.0.1', port: 0, logger }) : undefined;
  if (demo !== undefined) lines.ownDemo.listensAt(demo.origin);
  overload.start();
  const adopt = async (): Promise<void> => {
    await callbacks.resume();
    exporter.wake();
    if (await foundation.store.nodes.claim('campaigns')) await dialer.resumeAll();
  };
  await adopt();
  await cluster?.start({
    callBilling,
    admission,
    callbacks,
    fenced: serviceability.of('fenced'),
    adopt,
    relinquish: () => dialer.stop(),
  });
  void forgetLists().catch((error: unknown) =>
    logger.error({ error }, 'unfinished uploads not deleted'),
  );
  recorder.recover(interrupted);
  void transcriptions
    .recover()
    .catch((error: unknown) => logger.error({ error }, 'transcriptions not resumed'));
  void alerts.notify();
  housekeeping.start();
  memory.start();
  storeWatch.start();
  descriptors.start();
  redisWatch?.start();
  leaving.start();
  await alarms.start();
  sampling.start();
  writeSecret(join(dataDir, SERVICE_FILE), `${JSON.stringify({ url, pid: process.pid })}\n`);
  const sip = { host: derived.sipPublicHost, port: signalling.port() };
  const baseUrl = settings.publicUrl === '' ? url : derived.publicUrl;
  const first = await firstStart({ ...basics, ...foundation, sip, baseUrl }, settings.demo);
  void warmSounds(lines, lines.holdMusic);
  const supervisor = new Supervisor({
    ...start.supervisor,
    clock: systemClock,
    logger,
    isWell: () => media.status().ready,
  });
  supervisor.ready(`${url}, SIP ${settings.sip.host}:${signalling.port()}`);
  logger.info({ url, sip: `${settings.sip.host}:${signalling.port()}` }, 'carillon is up');

  const stop = async (): Promise<void> => {
    logger.info({ calls: callBilling.live().length, limitMs: settings.calls.drainMs }, 'draining');
    supervisor.stopping('waiting for active calls to end');
    operations.drain();
    await housekeeping.drain(callBilling, settings.calls.drainMs);
    await Promise.race([callBilling.idle(), systemClock.sleep(SETTLING_GRACE_MS)]);
    await recorder.idle(RECORDING_GRACE_MS);
    await callbacks.close(CALLBACK_GRACE_MS);
    await Promise.all([server.stop(), demo?.stop(), signalling.stop(), lines.audio.stop()]);
    await Promise.all([
      housekeeping.stop(),
      exporter.stop(),
      leaving.stop(),
      alarms.stop(),
      sampling.stop(),
      storeWatch.stop(),
      descriptors.stop(),
      redisWatch?.stop(),
    ]);
    await callTraces?.stop();
    lines.hep?.stop();
    mailer.close();
    unwatch();
    overload.stop();
    supervisor.stop();
    memory.stop();
    callBilling.stop();
    await media.stop();
    streams.stop();
    await lines.http.close();
    await cluster?.leave();
    await foundation.store.close();
    logger.info({}, 'stopped');
  };
  const reload = (): void => {
    supervisor.reloading();
    void reloader
      .reload()
      .catch((error: unknown) => logger.error({ error }, 'settings not reloaded'))
      .finally(() => supervisor.reloaded());
  };
  const text = await startBanner({ ...basics, ...foundation, first, sip, baseUrl });
  return { banner: text, stop, reload };
}
