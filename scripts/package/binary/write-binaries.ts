// Writes the single binaries: Node 26 with a bundle inside, which needs no installation.

import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { engineBinaries } from '../gather-built.ts'
import type { Release } from '../nfpm-config.ts'
import { binaryConfig, NODE_WORDS } from './binary-config.ts'

const DEADLINE_MS = 300_000
const EXECUTABLE = 0o755

export interface BinarySource {
  /** The command, such as holdfast. */
  readonly command: string
  /** Path of its bundle. */
  readonly bundle: string
}

/** Writes `holdfast_1.2.3_linux_amd64` and the like into a folder. */
export async function writeBinaries(
  sources: readonly BinarySource[],
  { version, arch }: Release,
  { into, work }: { readonly into: string; readonly work: string },
): Promise<void> {
  for (const { command, bundle } of sources) {
    const folder = join(work, `${command}-binary`)
    const built = await buildBinary(command, bundle, folder)
    renameSync(built, join(into, `${command}_${version}_linux_${arch}`))
  }
}

/** Node writes the names of its configuration into the binary: the bundle has the same name in every clone. */
async function buildBinary(command: string, bundle: string, folder: string): Promise<string> {
  const { config, main, output } = binaryConfig(command)
  mkdirSync(folder, { recursive: true })
  copyFileSync(bundle, join(folder, main))
  writeFileSync(join(folder, 'config.json'), config)
  const [[, node] = ['', '']] = engineBinaries('node')
  await promisify(execFile)(node, [...NODE_WORDS, '--build-sea', 'config.json'], {
    cwd: folder,
    // Options of the environment would change the compiled code.
    env: {},
    timeout: DEADLINE_MS,
  })
  chmodSync(join(folder, output), EXECUTABLE)
  return join(folder, output)
}
