import type { Route } from './http/route.ts';
import { ledgerRoutes } from './routes/ledger.ts';

/** Every route of the service. */
export const ROUTES: readonly Route[] = [...ledgerRoutes];
