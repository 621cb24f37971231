// Writes the sample manifests: copies of examples with the address of this platform's registry. Its pools are small, so the
// volume of the database is too.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DevFolder, REPOSITORY, writePrivate } from './dev-folder.ts'

const IMAGE = /^image: .*$/m
const SIZE = /^size: .*$/m

export interface SampleImages {
  readonly hello: string
  readonly database: string
}

export function writeManifests({ manifest, databaseManifest }: DevFolder, images: SampleImages): void {
  writePrivate(manifest, replace(readExample('hello'), IMAGE, `image: ${images.hello}`))
  const database = replace(readExample('database'), IMAGE, `image: ${images.database}`)
  writePrivate(databaseManifest, replace(database, SIZE, 'size: 200Mi'))
}

const readExample = (name: string): string =>
  readFileSync(join(REPOSITORY, `examples/${name}.yaml`), 'utf8').replace(/^ *#.*\n/gm, '')

function replace(example: string, line: RegExp, by: string): string {
  if (!line.test(example)) throw new Error(`no line of the example matches ${line}`)
  return example.replace(line, by)
}
