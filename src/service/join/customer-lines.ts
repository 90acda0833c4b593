/** Composes the connections to customers' servers: HTTP, callbacks and audio streams. */
import { readFileSync } from 'node:fs';
import type { EgressGuard } from '../../base/egress.ts';
import { ServiceError } from '../../base/errors.ts';
import { type AccountId, asCallUuid } from '../../base/ids.ts';
import type { Settings } from '../../config/schema.ts';
import { CallLogs } from '../../domain/call/call.ts';
import {
  type CallbackClient,
  createCallbackClient,
  createUpgradeSigner,
  Deliveries,
  KnownTokens,
} from '../../domain/callback/callback.ts';
import type { CallbackAttempt } from '../../domain/callback/types.ts';
import { createEgressGuard } from '../../edge/egress/egress.ts';
import type { Metrics } from '../../edge/metrics/metrics.ts';
import { type AudioStreamsEdge, createAudioStreams } from '../../edge/stream/client.ts';
import { AgentApplications } from '../../edge/webhook/agent-applications.ts';
import { DemoApplication } from '../../edge/webhook/demo-application.ts';
import { type CustomerHttp, createHttpCaller } from '../../edge/webhook/http-caller.ts';
import { AgentHost } from '../agent-host.ts';
import type { Derived } from '../settings.ts';
import type { Clustered } from './cluster.ts';
import type { Basics, Foundation } from './foundation.ts';
import { threadsOf } from './threads.ts';

/** Maximum number of ended calls whose timeline stays in memory. */
const LOGGED_CALLS = 2000;

export interface CustomerLines {
  readonly http: CustomerHttp;
  readonly deliveries: Deliveries;
  readonly ownDemo: DemoApplication;
  /** Process of the agents of applications. */
  readonly agentHost: AgentHost;
  readonly callbacks: CallbackClient;
  readonly streams: AudioStreamsEdge;
  readonly egress: EgressGuard;
  readonly signUpgrade: ReturnType<typeof createUpgradeSigner>;
  /** In-memory timelines of calls. */
  readonly logs: CallLogs;
}

/** Composes the requests and streams to customers. All of them pass one egress guard. */
export function openCustomerLines(
  basics: Basics,
  { store }: Foundation,
  derived: Derived,
  metrics: Metrics,
  cluster: Clustered | undefined,
): CustomerLines {
  const { settings, clock, random } = basics;
  const ownDemo = new DemoApplication();
  const permitted = {
    allow: settings.egress.allow,
    allowLoopback: derived.local,
    allowInsecure: derived.allowInsecure,
  };
  const agentHost = new AgentHost({ ...basics, egress: permitted });
  const agents = new AgentApplications({
    applications: store.applications,
    isAllowed: ({ accountId }) => mayUseAgents(settings, derived, accountId),
    run: (application, url) => agentHost.run(application, url),
    logger: basics.logger,
  });
  const egress = createEgressGuard({
    ...permitted,
    isOpen: (url) => ownDemo.isAt(url) || agents.isAt(url),
  });
  const outside = createHttpCaller({
    egress,
    connectionsPerHost: settings.webhooks.connectionsPerHost,
    ...certificateAuthorities(settings.streams.caFile),
  });
  const http = agents.before(ownDemo.before(outside));
  const { logEntries: entries, logRetentionMs: retentionMs } = settings.calls;
  const logs = new CallLogs({ entries, retentionMs, calls: LOGGED_CALLS }, clock);
  const signing = {
    tokens: new KnownTokens(store.signingTokens),
    random,
    settings: { ...settings.webhooks, traceparent: settings.telemetry.tracesUrl !== '' },
    lease: cluster?.shared.lease,
  };
  const { logger } = basics;
  const sending = { ...signing, http, clock, logger, notifications: store.notifications };
  const deliveries = new Deliveries({
    ...sending,
    store: store.deliveries,
    withoutConcealed: (callUuid, text) =>
      logs.get(asCallUuid(callUuid))?.withoutConcealed(text) ?? text,
  });
  const callbacks = callbacksOf({ ...sending, deliveries }, logs, metrics);
  const signUpgrade = createUpgradeSigner(signing);
  const streams = agents.streams(streamsOf(basics, { egress, signUpgrade, metrics }));
  const requests = { http, callbacks, deliveries, signUpgrade, logs };
  return { ...requests, streams, egress, ownDemo, agentHost };
}

/**
 * Agents use the keys of this machine at the expense of the operator. A definition can send a key to any permitted
 * server, so that the accounts must be trusted with the keys. The egress guard protects only the network.
 */
export const mayUseAgents = (
  { agents: { accounts } }: Settings,
  { local }: Derived,
  accountId: AccountId,
): boolean =>
  accounts.length === 0 ? local : accounts.includes('*') || accounts.includes(accountId);

type CallbackNeeds = Parameters<typeof createCallbackClient>[0];

/** Composes the callback client. Metrics count its attempts, and the timeline of a call lists those of its notifications. */
function callbacksOf(
  {
    deliveries,
    ...sending
  }: Omit<CallbackNeeds, 'journal' | 'onAttempt'> & {
    readonly deliveries: Deliveries;
  },
  logs: CallLogs,
  metrics: Metrics,
): CallbackClient {
  const measure = ({ event, status, durationMs }: CallbackAttempt): void =>
    metrics.webhook(event, String(status ?? 'error'), durationMs);
  const client = createCallbackClient({
    ...sending,
    journal: deliveries,
    onAttempt: ({ subject }, attempt) => {
      logs.get(asCallUuid(subject))?.add('callback', attempt.event, { ...attempt });
      measure(attempt);
    },
  });
  return {
    ...client,
    fetchDocument: (target, parameters, options) =>
      client.fetchDocument(target, parameters, {
        ...options,
        onAttempt(attempt) {
          measure(attempt);
          options.onAttempt?.(attempt);
        },
      }),
  };
}

type StreamNeeds = Parameters<typeof createAudioStreams>[0];

function streamsOf(
  { settings, clock, logger }: Basics,
  {
    metrics,
    ...parts
  }: Pick<StreamNeeds, 'egress' | 'signUpgrade'> & { readonly metrics: Metrics },
): AudioStreamsEdge {
  return createAudioStreams({
    ...parts,
    userAgent: settings.webhooks.userAgent,
    caFile: settings.streams.caFile,
    threads: threadsOf(settings.streams.threads),
    clock,
    logger,
    turnTook: (latencyMs) => metrics.turnTook(latencyMs),
    limits: {
      queueMs: settings.streams.queueMs,
      accountMessageBytes: settings.streams.accountMessageBytes,
    },
  });
}

function certificateAuthorities(file: string): { readonly ca?: string } {
  if (file === '') return {};
  try {
    return { ca: readFileSync(file, 'utf8') };
  } catch (cause) {
    throw new ServiceError('CONFIG_INVALID', `streams.caFile ${file} cannot be read`, { cause });
  }
}
