import { adminAccountRoutes } from './admin/accounts.ts';
import { adminAlarmRoutes } from './admin/alarms.ts';
import { adminCallRoutes } from './admin/calls.ts';
import { adminCarrierRoutes } from './admin/carriers.ts';
import { adminDoNotCallRoutes } from './admin/do-not-call.ts';
import { adminImportRoutes } from './admin/import.ts';
import { adminLedgerRoutes } from './admin/ledger.ts';
import { mediaPolicyRoutes } from './admin/media-policies.ts';
import { adminNumberRoutes } from './admin/numbers.ts';
import { operateRoutes } from './admin/operate.ts';
import { personalDataRoutes } from './admin/personal-data.ts';
import { adminRateRoutes } from './admin/rates.ts';
import { adminRouteRoutes } from './admin/routes.ts';
import { adminServiceRoutes } from './admin/service.ts';
import { trunkAdminRoutes } from './admin/trunks.ts';
import { unreadableRowRoutes } from './admin/unreadable-rows.ts';
import { consoleRoutes } from './console/pages.ts';
import { sessionRoutes } from './console/session.ts';
import { userSessionRoutes } from './console/user-sessions.ts';
import { userRoutes } from './console/users.ts';
import type { Route } from './http/route.ts';
import { accountRoutes } from './routes/account/account.ts';
import { ledgerRoutes } from './routes/account/ledger.ts';
import { lowBalanceRoutes } from './routes/account/low-balance.ts';
import { partnerRoutes } from './routes/account/partner.ts';
import { phoneLoginRoutes } from './routes/account/phone-login.ts';
import { plivoAccountRoutes } from './routes/account/plivo-account.ts';
import { plivoSubAccountRoutes } from './routes/account/plivo-sub-account.ts';
import { streamTestRoutes } from './routes/account/stream-test.ts';
import { subAccountRoutes } from './routes/account/sub-account.ts';
import { webhookRoutes } from './routes/account/webhooks.ts';
import { callActionRoutes } from './routes/calls/actions.ts';
import { conferenceRoutes } from './routes/calls/conference.ts';
import { handOverRoutes } from './routes/calls/hand-over.ts';
import { listenInRoutes } from './routes/calls/listen-in.ts';
import { liveCallRoutes } from './routes/calls/live.ts';
import { multiPartyRoutes } from './routes/calls/multi-party.ts';
import { multiPartyMemberRoutes } from './routes/calls/multi-party-members.ts';
import { multiPartyRecordingRoutes } from './routes/calls/multi-party-recording.ts';
import { placeCallRoute } from './routes/calls/place.ts';
import { referRoutes } from './routes/calls/refer.ts';
import { streamRoutes } from './routes/calls/stream.ts';
import { agentRoutes } from './routes/campaigns/agents.ts';
import { campaignRoutes } from './routes/campaigns/campaigns.ts';
import { contactRoutes } from './routes/campaigns/contacts.ts';
import { doNotCallRoutes } from './routes/campaigns/do-not-call.ts';
import { poolRoutes } from './routes/campaigns/pool.ts';
import { docsRoutes } from './routes/docs.ts';
import { guideRoutes } from './routes/guide.ts';
import { healthRoutes } from './routes/health.ts';
import { phoneRoutes } from './routes/phone.ts';
import { applicationRoutes } from './routes/provisioning/application.ts';
import { callerIdRoutes } from './routes/provisioning/caller-id.ts';
import { credentialRoutes } from './routes/provisioning/credential.ts';
import { endpointRoutes } from './routes/provisioning/endpoint.ts';
import { ipAclRoutes } from './routes/provisioning/ip-acl.ts';
import { numberRoutes } from './routes/provisioning/number.ts';
import { originationUriRoutes } from './routes/provisioning/origination-uri.ts';
import { plivoNumberRoutes } from './routes/provisioning/plivo-number.ts';
import { trunkRoutes } from './routes/provisioning/trunk.ts';
import { bookRoutes } from './routes/records/books.ts';
import { cdrRoutes } from './routes/records/cdr.ts';
import { cdrSearchRoutes } from './routes/records/cdr-search.ts';
import { exportRoutes } from './routes/records/export.ts';
import { recordingRoutes } from './routes/records/recording.ts';
import { transcriptionRoutes } from './routes/records/transcription.ts';

const documented: readonly Route[] = [
  ...accountRoutes,
  ...ledgerRoutes,
  ...lowBalanceRoutes,
  ...webhookRoutes,
  ...streamTestRoutes,
  ...endpointRoutes,
  ...applicationRoutes,
  ...numberRoutes,
  ...callerIdRoutes,
  ...plivoNumberRoutes,
  ...plivoAccountRoutes,
  ...phoneLoginRoutes,
  ...trunkRoutes,
  ...originationUriRoutes,
  ...credentialRoutes,
  ...ipAclRoutes,
  placeCallRoute,
  ...liveCallRoutes,
  ...listenInRoutes,
  ...referRoutes,
  ...handOverRoutes,
  ...callActionRoutes,
  ...streamRoutes,
  ...conferenceRoutes,
  ...multiPartyRoutes,
  ...multiPartyMemberRoutes,
  ...multiPartyRecordingRoutes,
  ...cdrRoutes,
  ...cdrSearchRoutes,
  ...recordingRoutes,
  ...transcriptionRoutes,
  ...exportRoutes,
  ...bookRoutes,
  ...agentRoutes,
  ...campaignRoutes,
  ...contactRoutes,
  ...poolRoutes,
  ...doNotCallRoutes,
  ...partnerRoutes,
  ...subAccountRoutes,
  ...plivoSubAccountRoutes,
  ...healthRoutes,
  ...adminAccountRoutes,
  ...adminLedgerRoutes,
  ...adminNumberRoutes,
  ...trunkAdminRoutes,
  ...mediaPolicyRoutes,
  ...unreadableRowRoutes,
  ...personalDataRoutes,
  ...adminCarrierRoutes,
  ...adminRateRoutes,
  ...adminRouteRoutes,
  ...adminDoNotCallRoutes,
  ...adminCallRoutes,
  ...adminImportRoutes,
  ...adminServiceRoutes,
  ...adminAlarmRoutes,
  ...operateRoutes,
  ...phoneRoutes,
  ...consoleRoutes,
  ...sessionRoutes,
  ...userRoutes,
  ...userSessionRoutes,
  ...guideRoutes,
];

/** All routes of the service. */
export const ROUTES: readonly Route[] = [...documented, ...docsRoutes(documented)];
