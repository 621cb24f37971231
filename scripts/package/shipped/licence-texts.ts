// Reads the licence texts of a component from its folder.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { LicenceText } from './shipped.ts'

/** `APLv2` is the name in one module that offers two licences. */
const NAMES = /^(?:(?:un)?(?:licen[cs]e|copying|notice)(?:[.-][\w.-]*)?|aplv2)$/i

export function licenceTexts(folder: string): LicenceText[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => NAMES.test(file) && statSync(join(folder, file)).isFile())
    .toSorted()
    .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
}
