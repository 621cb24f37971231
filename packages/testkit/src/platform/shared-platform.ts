// Platforms for tests of requests. One platform per test worker serves all files that need no settings of their own; each file
// gets tenants of its own from it, because tenants are what the product keeps apart. The records are in memory, and for a
// rotating quarter of the files in etcd: docs/design/packages.md#tests

import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { expect } from 'vitest'
import { readEventsOf, tenantsOf } from '../received/read-events.ts'
import { isInTurn } from '../rotation.ts'
import { uniqueName } from '../unique-names.ts'
import { makeTenant, type Platform, type PlatformOptions, startPlatform } from './start-platform.ts'

type Engine = 'memory' | 'etcd'

/** The store on which the platforms of a test file keep their records. */
export function requestsRunOn(testPath = expect.getState().testPath ?? ''): Engine {
  const digest = createHash('sha256').update(relative(process.cwd(), testPath)).digest()
  return isInTurn('requests-on-etcd', digest.readUInt32BE(0)) ? 'etcd' : 'memory'
}

/** A platform of this file alone, for settings that others must not have. */
export const ownPlatform = (options: PlatformOptions = {}): Promise<Platform> =>
  startPlatform({ inMemory: requestsRunOn() === 'memory', ...options })

const started = new Map<Engine, Promise<Platform>>()

/**
 * The platform of this worker, with two tenants that no other file has. `stop` ends the use of this file; the platform ends
 * with the process. A test that counts all tenants, or changes the platform itself, uses `ownPlatform`.
 */
export async function sharedPlatform(): Promise<Platform> {
  const engine = requestsRunOn()
  const starting = started.get(engine) ?? startShared(engine)
  started.set(engine, starting)
  const platform = await starting
  const api = platform.api()
  const before = new Set(await tenantsOf(api))
  // The lines of earlier files are not those of this one.
  platform.logLines.length = 0
  const [acme, globex] = await Promise.all([
    makeTenant(api, uniqueName('acme')),
    makeTenant(api, uniqueName('globex')),
  ])
  return {
    ...platform,
    acme,
    globex,
    async stop() {
      await readEventsOf(api, async () => (await tenantsOf(api)).filter((tenant) => !before.has(tenant)))
    },
  }
}

const startShared = (engine: Engine): Promise<Platform> =>
  startPlatform({ inMemory: engine === 'memory', settings: { volumes: { enabled: true } } })
