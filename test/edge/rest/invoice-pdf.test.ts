import { existsSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ShownInvoice } from '../../../src/edge/rest/wire/invoice.ts';
import { invoicePdf } from '../../../src/edge/rest/wire/invoice-pdf.ts';

const FONT = '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf';

const invoice = (name: string): ShownInvoice =>
  ({
    invoice_number: 'MA_1-2026-10',
    account_id: 'MA_1',
    account_name: name,
    seller: ['Voice Ltd'],
    currency: 'USD',
    preliminary: false,
    period_start: '2026-10-01T00:00:00.000000Z',
    period_end: '2026-10-31T23:59:59.999999Z',
    opening_balance: 0,
    closing_balance: -1,
    charges: [],
    credits: [],
    total_charges: 1,
    total_credits: 0,
  }) as unknown as ShownInvoice;

/** Returns the content of the file with its streams inflated. */
async function inside(name: string, font?: string): Promise<string> {
  const file = await buffer(await invoicePdf(invoice(name), font));
  let text = file.toString('latin1');
  for (const [, part = ''] of text.matchAll(/stream\n([\s\S]*?)\nendstream/g)) {
    try {
      text += inflateSync(Buffer.from(part, 'latin1')).toString('latin1');
    } catch {
      // Ignores streams that are not deflated.
    }
  }
  return text;
}

describe('an invoice as PDF', () => {
  it('uses the standard fonts for Latin letters', async () => {
    const text = await inside('Zoë & Söhne');
    expect(text).toContain('/BaseFont /Helvetica');
    expect(text).not.toContain('/FontFile2');
  });

  it.skipIf(!existsSync(FONT))(
    'embeds a font for other letters, with a map back to Unicode',
    async () => {
      const text = await inside('Привет 北京', FONT);
      expect(text).toContain('/FontFile2');
      // П in the map from glyphs to Unicode.
      expect(text.toLowerCase()).toContain('<041f>');
      expect(text).not.toContain('/BaseFont /Helvetica');
    },
  );

  it('writes question marks without such a font', async () => {
    expect(await inside('Привет', '/nonexistent.ttf')).toContain('/BaseFont /Helvetica');
  });
});
