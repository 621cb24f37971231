// Which programs are bundled, and where each bundle is below the folder of its package.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '@holdfast/contract'
import type { Metafile } from 'esbuild'
import { buildDashboard } from '../../dashboard/build.ts'
import { type Bundle, bundle } from './bundle.ts'
import { bundleCli } from './bundle-cli.ts'

/** dockerode imports these for engines over SSH, image builds and BuildKit. The agent calls an engine on a unix socket only. */
const UNUSED_IN_AGENT = ['ssh2', 'tar-fs', '@balena/dockerignore', '@grpc/*', 'protobufjs']

export interface BuiltBundle {
  readonly folder: string
  readonly metafiles: readonly Metafile[]
}

export const PROGRAMS = {
  'holdfast-server': ['server/dist/holdfast-server.mjs'],
  'holdfast-agent': ['holdfast-agent.mjs', 'holdfast-fencer.mjs'],
  'holdfast-cli': ['holdfast.mjs'],
} as const

export type Program = keyof typeof PROGRAMS

/** The bundle of the single binary of the agent, which is the fencer too. */
export async function bundleAgentBinary(folder: string): Promise<BuiltBundle & { readonly file: string }> {
  const file = join(folder, 'holdfast-agent.mjs')
  const entry = 'packages/agent/src/binary-main.ts'
  return { folder, file, metafiles: [await bundle({ entry, outfile: file, unused: UNUSED_IN_AGENT })] }
}

/** Writes the bundle of each program into a folder of its own below `into`. */
export async function buildBundles(into: string): Promise<{ readonly [P in Program]: BuiltBundle }> {
  const at = (program: Program): string => join(into, program)
  const [server, agent, cli] = await Promise.all([
    bundleServer(at('holdfast-server')),
    agentBundles(at('holdfast-agent')),
    bundleCli(at('holdfast-cli')),
  ])
  return {
    'holdfast-server': { folder: at('holdfast-server'), metafiles: server },
    'holdfast-agent': { folder: at('holdfast-agent'), metafiles: agent },
    'holdfast-cli': { folder: at('holdfast-cli'), metafiles: [cli] },
  }
}

/**
 * Writes the bundles of servers and agents from a folder of sources, without the dashboard. Tests run such a folder. An early
 * version has no fencer.
 */
export async function bundleProcesses(root: string, into: string): Promise<void> {
  const at = (program: Program): string => join(into, program)
  await Promise.all([serverBundle(at('holdfast-server'), root), agentBundles(at('holdfast-agent'), root)])
}

/** The folders are those of packages/, because the server looks for the dashboard beside its own package. */
async function bundleServer(folder: string): Promise<Metafile[]> {
  const built = await serverBundle(folder)
  await buildDashboard(join(folder, 'dashboard/dist'))
  return [built]
}

function serverBundle(folder: string, root?: string): Promise<Metafile> {
  const [outfile] = PROGRAMS['holdfast-server']
  return bundle({
    ...defined({ root }),
    entry: 'packages/server/src/main.ts',
    outfile: join(folder, outfile),
  })
}

/** The fencer is a bundle of its own: it runs with little memory and outlives a failed upgrade of the agent. */
function agentBundles(folder: string, root?: string): Promise<Metafile[]> {
  const [agent, fencer] = PROGRAMS['holdfast-agent']
  const bundles: Bundle[] = [
    { entry: 'packages/agent/src/main.ts', outfile: join(folder, agent), unused: UNUSED_IN_AGENT },
    { entry: 'packages/agent/src/fencer-main.ts', outfile: join(folder, fencer) },
  ]
  const there = bundles.filter(({ entry }) => root === undefined || existsSync(join(root, entry)))
  return Promise.all(there.map((each) => bundle({ ...defined({ root }), ...each })))
}
