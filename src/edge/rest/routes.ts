import { adminAccountRoutes } from './admin/accounts.ts';
import { adminCallRoutes } from './admin/calls.ts';
import { adminServiceRoutes } from './admin/service.ts';
import type { Route } from './http/route.ts';
import { accountRoutes } from './routes/account/account.ts';
import { ledgerRoutes } from './routes/account/ledger.ts';
import { partnerRoutes } from './routes/account/partner.ts';
import { healthRoutes } from './routes/health.ts';
import { applicationRoutes } from './routes/provisioning/application.ts';
import { credentialRoutes } from './routes/provisioning/credential.ts';
import { endpointRoutes } from './routes/provisioning/endpoint.ts';
import { ipAclRoutes } from './routes/provisioning/ip-acl.ts';
import { numberRoutes } from './routes/provisioning/number.ts';
import { originationUriRoutes } from './routes/provisioning/origination-uri.ts';
import { trunkRoutes } from './routes/provisioning/trunk.ts';
import { cdrRoutes } from './routes/records/cdr.ts';
import { exportRoutes } from './routes/records/export.ts';
import { recordingRoutes } from './routes/records/recording.ts';

/** Every route of the service. */
export const ROUTES: readonly Route[] = [
  ...accountRoutes,
  ...ledgerRoutes,
  ...endpointRoutes,
  ...applicationRoutes,
  ...numberRoutes,
  ...trunkRoutes,
  ...originationUriRoutes,
  ...credentialRoutes,
  ...ipAclRoutes,
  ...cdrRoutes,
  ...recordingRoutes,
  ...exportRoutes,
  ...partnerRoutes,
  ...healthRoutes,
  ...adminAccountRoutes,
  ...adminCallRoutes,
  ...adminServiceRoutes,
];
