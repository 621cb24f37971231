// Prints which event types, alterations, warnings and filters of the contract the tests of a CI run received over HTTP, and
// in which test files. Usage: received.ts RECORD. Exits with 1 if a value was never received: then no test shows that the
// product can produce it.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { ALTERATION_CODES, EVENT_TYPES, FILTERS, WARNING_CODES } from '@holdfast/contract'
import type { Vocabulary } from '@holdfast/testkit/received/received-values'
import { type BelowHttp, judgeVocabulary, readRecord } from './judge-received.ts'

const ROOT = join(import.meta.dirname, '../..')
const VALUES: { readonly [name in Vocabulary]: readonly string[] } = {
  'event type': EVENT_TYPES,
  alteration: ALTERATION_CODES,
  warning: WARNING_CODES,
  filter: FILTERS,
}
const BELOW_HTTP: readonly BelowHttp[] = [
  {
    value: 'volume.fenced',
    why: 'the lab causes it only sometimes, so a test reads it from the store',
    test: 'tests/controllers/promotions.test.ts',
  },
  {
    value: 'node.address_refused',
    why: 'read from the store of a gateway without an API',
    test: 'tests/real/session/routes.test.ts',
  },
  {
    value: 'node.orphans_found',
    why: 'read from the store of a gateway without an API',
    test: 'tests/real/nodes/orphans.test.ts',
  },
]

const [path = ''] = argv.slice(2)
const record = readRecord(existsSync(path) ? readFileSync(path, 'utf8').replaceAll(`${ROOT}/`, '') : '')
const reports = Object.entries(VALUES).map(([name, values]) =>
  judgeVocabulary(name, values, record, BELOW_HTTP),
)
for (const line of reports.flatMap(({ lines }) => lines)) console.log(line)
const missing = reports.flatMap((report) => report.missing)
const unexpected = reports.flatMap((report) => report.unexpected)
if (missing.length > 0)
  console.log(`Never received: ${missing.join(', ')}. Let a test on engines cause them.`)
if (unexpected.length > 0) console.log(`Received over HTTP in this run after all: ${unexpected.join(', ')}.`)
process.exitCode = missing.length === 0 ? 0 : 1
