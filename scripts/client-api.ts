/** Generates the types of both clients from the routes of the service. A test fails if a file is out of date. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '../src/edge/rest/openapi.ts';
import { ROUTES } from '../src/edge/rest/routes.ts';
import { type ApiDescription, clientApi } from './client-api/file.ts';
import { pythonApi } from './client-api/python.ts';

const description = openApiDocument(ROUTES, 'http://127.0.0.1:8080') as unknown as ApiDescription;
const packages = join(import.meta.dirname, '..', 'packages');
writeFileSync(join(packages, 'client', 'src', 'api.ts'), clientApi(description));
writeFileSync(join(packages, 'python', 'carillon', 'api.py'), pythonApi(description));
