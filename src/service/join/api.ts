/** Composes the REST API, the console and the operator API. */
import { secretsEqual } from '../../base/hash.ts';
import type { CampaignService } from '../../domain/campaign/campaign.ts';
import type { CallControl } from '../../domain/dispatch/types.ts';
import type { Transcriptions } from '../../domain/transcription/transcription.ts';
import type { Exporter } from '../../edge/archive/exporter.ts';
import type { LeveledLogger } from '../../edge/log/pino-logger.ts';
import {
  CredentialUses,
  createLiveFeed,
  createRestServer,
  type RestServer,
  type RestSettings,
} from '../../edge/rest/server.ts';
import { agentAccess } from '../agent-definitions.ts';
import { ADMIN_TOKEN_FILE, storedSecret } from '../data-folder.ts';
import { type DoctorParts, DoctorRun } from '../doctor-run.ts';
import { CallListening } from '../listen-in/call-listening.ts';
import { SharedCallListening } from '../listen-in/shared-call-listening.ts';
import { liveCallsView } from '../live-calls.ts';
import { createOperations } from '../operations.ts';
import { PrometheusHistory } from '../prometheus-history.ts';
import type { Reloader } from '../reload.ts';
import { shareLiveCalls } from '../shared-live-calls.ts';
import { StreamTests } from '../stream-tests.ts';
import type { Calls } from './calls.ts';
import { mayUseAgents } from './customer-lines.ts';
import { type CallReports, clusterStateOf, type Monitored, type Watches } from './monitoring.ts';

export interface ApiParts extends Monitored {
  readonly calls: Calls;
  /** Live control of the calls of all nodes. */
  readonly control: CallControl;
  readonly campaigns: CampaignService;
  readonly transcriptions: Transcriptions;
  readonly exporter: Exporter;
  readonly reports: CallReports;
  readonly watches: Watches;
  readonly reloader: Reloader;
  readonly rest: RestSettings;
  /** Project folder, the environment of this process, and its log. */
  readonly start: Pick<DoctorParts, 'root' | 'environment'> & { readonly logger: LeveledLogger };
}

export interface Api {
  readonly server: RestServer;
  readonly operations: ReturnType<typeof createOperations>;
  readonly credentialUses: CredentialUses;
}

export function joinApi(parts: ApiParts): Api {
  const { basics, foundation, lines, cluster, calls, watches, reloader } = parts;
  const { settings, dataDir, clock, random } = basics;
  const { callBilling } = calls;
  const adminToken = settings.adminToken || storedSecret(dataDir, ADMIN_TOKEN_FILE, random);
  const operations = createOperations({
    reload: () => reloader.reload(),
    shownSettings: () => reloader.shown(),
    addedRows: () => addedRows(parts),
    doctor: new DoctorRun({ ...basics, ...parts.start, adminToken }),
    history: new PrometheusHistory({ clock, url: settings.telemetry.prometheusUrl }),
    peers: cluster?.peers,
    recent: parts.start.logger.recent,
    alarms: parts.reports.alarms,
    storeWatch: watches.store,
    serviceability: parts.serviceability,
    ...clusterStateOf(parts),
    ...foundation,
    ...lines,
    callBilling,
    admission: calls.admission,
    metrics: parts.metrics,
    clock,
    dataDir,
    callsLimit: settings.calls.maxConcurrent,
    overload: watches.overload,
  });
  const callsHere = liveCallsView(callBilling, lines.logs, lines.traces);
  const liveCalls = cluster === undefined ? callsHere : shareLiveCalls(callsHere, cluster.peers);
  const listening = new CallListening({ callBilling, watches: lines.streams.watches, clock });
  const credentialUses = new CredentialUses({ ...basics, store: foundation.store.credentialUses });
  const server = createRestServer({
    ...basics,
    credentialUses,
    streamTests: streamTestsOf(parts),
    agents: agentsOf(parts),
    deliveries: lines.deliveries,
    callListening:
      cluster === undefined
        ? listening
        : new SharedCallListening({ ...basics, own: listening, peers: cluster.peers }),
    liveFeed: createLiveFeed(clock, liveCalls),
    ...foundation,
    control: parts.control,
    operations,
    recordingObjects: parts.leaving.elsewhere,
    signingTokens: foundation.store.signingTokens,
    onExportQueued: () => parts.exporter.wake(),
    campaigns: parts.campaigns,
    transcriptions: parts.transcriptions,
    liveCalls,
    isAdminToken: (token) => secretsEqual(token, adminToken),
    isScrapeToken: (token) =>
      settings.http.metricsToken !== '' && secretsEqual(token, settings.http.metricsToken),
    takeUpgrade: (...upgrade) => lines.signalling.upgrade(...upgrade),
    settings: parts.rest,
  });
  return { server, operations, credentialUses };
}

/** Counts carriers and rates that the operator added to those of the settings. */
async function addedRows({ basics, foundation }: ApiParts) {
  const listed = new Set(basics.lists.carriers.map(({ name }) => name));
  const { provisioning, store } = foundation;
  return {
    carriers: provisioning.carriers.list().filter(({ name }) => !listed.has(name)).length,
    rates: (await store.rates.listAll()).length,
  };
}

const agentsOf = ({ basics, derived, lines, start }: ApiParts) =>
  agentAccess({
    ...basics,
    environment: start.environment,
    isAllowed: (accountId) => mayUseAgents(basics.settings, derived, accountId),
    egress: lines.egress,
  });

const streamTestsOf = ({ basics, lines, start }: ApiParts): StreamTests =>
  new StreamTests({
    ...basics,
    ...lines,
    root: start.root,
    caFile: basics.settings.streams.caFile,
  });
