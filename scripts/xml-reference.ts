/**
 * Writes docs/xml.md from the readers that check documents: each is run once, and what it asks of its element is noted.
 * A test fails when the page differs. What attributes mean stands here, in ABOUT.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { xmlReference } from './xml-reference/page.ts';

writeFileSync(join(import.meta.dirname, '..', 'docs', 'xml.md'), xmlReference());
