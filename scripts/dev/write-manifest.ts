// Writes the sample manifest: a copy of examples/hello.yaml with the address of this platform's registry.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DevFolder, REPOSITORY, writePrivate } from './dev-folder.ts'

const EXAMPLE = join(REPOSITORY, 'examples/hello.yaml')
const IMAGE = /^image: .*$/m

export function writeManifest({ manifest }: DevFolder, image: string): void {
  const example = readFileSync(EXAMPLE, 'utf8')
  if (!IMAGE.test(example)) throw new Error(`${EXAMPLE} has no image`)
  writePrivate(manifest, example.replace(/^#.*\n/gm, '').replace(IMAGE, `image: ${image}`))
}
