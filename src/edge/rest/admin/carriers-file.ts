import { Value } from 'typebox/value';
import { err, ok, type Result } from '../../../base/result.ts';
import type { NewCarrier } from '../../../domain/provisioning/provisioning.ts';
import { type Static, Type } from '../http/schema.ts';
import { CarrierBody } from './carrier-fields.ts';
import { carrierOf, wrongCarrier } from './carriers.ts';

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
  for (const [at, carrier] of carriers.entries()) {
    const unknown = Object.keys(carrier).find((key) => !Object.hasOwn(CarrierBody.properties, key));
    if (unknown !== undefined) return err(`carriers[${at}]: unknown key ${unknown}`);
    const wrong = wrongCarrier(carrier);
    if (wrong !== undefined) return err(`carriers[${at}]: ${wrong.error.detail}`);
  }
  const names = carriers.map(({ name }) => name);
  const again = names.find((name, at) => names.indexOf(name) !== at);
  if (again !== undefined) return err(`carriers: the name ${again} is used twice`);
  return ok(carriers.map(carrierOf));
}
