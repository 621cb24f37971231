// Decodes every record of a dump with the shapes of the build in whose folder this file is, and prints how many were read
// and which were not. It is copied into a build and runs there: node read-store.ts DUMP.json ROOT

import { readFileSync } from 'node:fs'
import { argv, stdout } from 'node:process'
import { decodeRecord } from '@holdfast/server/store/encode'
import { createKeyspace } from '@holdfast/server/store/keys'
import { COLLECTIONS } from '@holdfast/server/store/records'

export interface StoreReading {
  readonly read: number
  /** Keys of a kind that this build does not know. */
  readonly unknown: readonly string[]
  readonly faults: readonly string[]
}

function readAll(dump: { readonly [key: string]: { readonly value: string } }, root: string): StoreReading {
  const { parse } = createKeyspace(root)
  const unknown: string[] = []
  const faults: string[] = []
  let read = 0
  for (const [key, { value }] of Object.entries(dump)) {
    const collection = COLLECTIONS.find(({ folder }) => folder === parse(key)?.folder)
    try {
      if (collection === undefined) unknown.push(key)
      else decodeRecord(collection, Buffer.from(value))
      read += collection === undefined ? 0 : 1
    } catch (error) {
      faults.push(`${key}: ${String(error)}`)
    }
  }
  return { read, unknown, faults }
}

const [, , file = '', root = ''] = argv
stdout.write(JSON.stringify(readAll(JSON.parse(readFileSync(file, 'utf8')), root)))
