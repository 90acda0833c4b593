import { Value } from 'typebox/value';
import { err, ok, type Result } from '../../../base/result.ts';
import type { NewCarrier } from '../../../domain/provisioning/provisioning.ts';
import { type Static, Type } from '../http/schema.ts';
import { CarrierBody } from './carrier-fields.ts';
import { carrierOf } from './carriers.ts';

const CarriersFile = Type.Object({ carriers: Type.Array(CarrierBody) });

/** Parses `config/carriers.json`, which has the same fields as `POST /admin/v1/carriers`. The error names the position. */
export function parseCarriersFile(document: unknown): Result<readonly NewCarrier[], string> {
  if (!Value.Check(CarriersFile, document)) {
    const [first] = Value.Errors(CarriersFile, document);
    return err(
      `${first?.instancePath ?? ''} ${first?.message ?? 'is not a list of carriers'}`.trim(),
    );
  }
  const { carriers }: Static<typeof CarriersFile> = document;
  return ok(carriers.map(carrierOf));
}
