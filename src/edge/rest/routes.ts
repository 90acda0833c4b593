import { adminAccountRoutes } from './admin/accounts.ts';
import { adminCallRoutes } from './admin/calls.ts';
import { adminServiceRoutes } from './admin/service.ts';
import type { Route } from './http/route.ts';
import { applicationRoutes } from './routes/application.ts';
import { cdrRoutes } from './routes/cdr.ts';
import { endpointRoutes } from './routes/endpoint.ts';
import { healthRoutes } from './routes/health.ts';
import { ledgerRoutes } from './routes/ledger.ts';

/** Every route of the service. */
export const ROUTES: readonly Route[] = [
  ...ledgerRoutes,
  ...endpointRoutes,
  ...applicationRoutes,
  ...cdrRoutes,
  ...healthRoutes,
  ...adminAccountRoutes,
  ...adminCallRoutes,
  ...adminServiceRoutes,
];
