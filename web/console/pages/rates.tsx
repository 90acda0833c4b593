import { useState } from 'preact/hooks';
import { get, type Row, rows, text } from '../api.ts';
import { useAction } from '../hooks.ts';
import { Input, onSubmit, Problem, Table } from '../parts.tsx';

interface Props {
  readonly account: string;
  /** Country of the account, ISO 3166-1 alpha-2. */
  readonly country: string;
}

interface Found {
  readonly country: string;
  readonly currency: string;
  readonly rates: readonly Row[];
}

const shown = (rate: unknown): string => (rate === null || rate === undefined ? '—' : text(rate));
const rateIn = (from: unknown, name: string): unknown =>
  ((from as Row | undefined)?.[name] as Row | undefined)?.['rate'];

/** Prices of calls and numbers of a country for the account. */
export function Rates({ account, country }: Props) {
  const [asked, setAsked] = useState(country);
  const [found, setFound] = useState<Found>();
  const { problem, run } = useAction();
  const ask = () =>
    run(async () =>
      setFound(
        foundIn(
          await get(
            `/api/v1/Account/${account}/Pricing/?country_iso=${encodeURIComponent(asked.trim())}`,
          ),
        ),
      ),
    );
  return (
    <>
      <h2>Rates</h2>
      <Problem text={problem} />
      <form class="row" onSubmit={onSubmit(() => void ask())}>
        <Input label="Country (two letters)" value={asked} set={setAsked} required />
        <button type="submit">Show rates</button>
      </form>
      {found && (
        <Table
          name={`Rates of ${found.country}`}
          rows={found.rates}
          empty=""
          columns={[
            { title: found.country, value: (row) => text(row['what']) },
            {
              title: `${found.currency} per minute`,
              value: (row) => shown(row['rate']),
              isNumber: true,
            },
            {
              title: 'Billed by',
              value: (row) => text(row['step']),
              isNumber: true,
              isMinor: true,
            },
          ]}
        />
      )}
    </>
  );
}

function foundIn(prices: Row): Found {
  const voice = prices['voice'] as Row | undefined;
  const outbound = voice?.['outbound'] as Row | undefined;
  return {
    country: text(prices['country']),
    currency: text(prices['currency']),
    rates: [
      { what: 'Calls to its numbers', rate: rateIn(outbound, 'local') },
      ...rows(outbound?.['rates']).map((one) => ({
        what: `Calls to +${[one['prefix']].flat().map(text).join(', +')} …`,
        rate: one['rate'],
        step: `${text(one['billing_increment_seconds'])} s`,
      })),
      { what: 'Calls to SIP addresses', rate: rateIn(outbound, 'ip') },
      { what: 'Calls from its numbers', rate: rateIn(voice?.['inbound'], 'local') },
      { what: 'Calls from SIP phones', rate: rateIn(voice?.['inbound'], 'ip') },
    ],
  };
}
