// Writes the packages: lets nfpm make a .deb and an .rpm from each plan.

import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { engineBinaries } from './gather-built.ts'
import { nfpmConfig, type Release } from './nfpm-config.ts'
import type { PackagePlan } from './package-plan.ts'

const DEADLINE_MS = 600_000
export const FORMATS = ['deb', 'rpm'] as const
export type Format = (typeof FORMATS)[number]

/** Writes the packages into a folder; `work` receives the texts and configurations that nfpm reads. */
export async function writePackages(
  plans: readonly PackagePlan[],
  release: Release,
  formats: readonly Format[],
  { into, work }: { readonly into: string; readonly work: string },
): Promise<void> {
  mkdirSync(into, { recursive: true })
  mkdirSync(work, { recursive: true })
  const [[, nfpm] = ['', '']] = engineBinaries('nfpm')
  for (const plan of plans) {
    const { config, texts } = nfpmConfig(plan, release, work)
    for (const { path, text } of texts) writeFileSync(path, text)
    const file = join(work, `${plan.name}.nfpm.json`)
    writeFileSync(file, config)
    for (const format of formats)
      await promisify(execFile)(nfpm, ['package', '--config', file, '--packager', format, '--target', into], {
        timeout: DEADLINE_MS,
      })
  }
}
