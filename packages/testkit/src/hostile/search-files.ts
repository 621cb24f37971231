// Finds the files of a folder that contain a text. Searches bytes, in files of any kind.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Returns one line `path: surrounding text` for each file that contains at least one of the texts. */
export function searchFiles(folder: string, texts: readonly string[]): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const path = join(folder, name)
    if (!statSync(path).isFile()) return []
    const bytes = readFileSync(path)
    const found = texts.map((text) => bytes.indexOf(text)).find((at) => at >= 0)
    if (found === undefined) return []
    return [
      `${name}: ${JSON.stringify(bytes.subarray(Math.max(0, found - 200), found + 80).toString('latin1'))}`,
    ]
  })
}
