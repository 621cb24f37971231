// Common steps of rotation tests: start healthy deployments, request a phase that is accepted, list the existing
// versions.

import { uniqueName } from '@holdfast/testkit'
import { expect } from 'vitest'
import type { ApiAnswer } from '../platform/api-client.ts'
import type { RotatingWorld } from './rotating-world.ts'

/** Creates healthy deployments that use version 1 of their own credential. */
export async function begin(
  world: RotatingWorld,
  names: readonly string[] = [uniqueName('web')],
  replicas = 2,
) {
  const label = uniqueName('db')
  await world.write(label)
  for (const name of names) await world.deploy(name, [label], replicas)
  for (const name of names) await world.settled(name)
  return { label, name: names[0] ?? '' }
}

export async function step(
  world: RotatingWorld,
  name: string,
  phase: string,
  more: object = {},
): Promise<ApiAnswer> {
  const answer = await world.rotate(name, { phase, ...more })
  expect(answer.status, answer.text).toBe(200)
  return answer
}

/** Versions that the credential's record lists. */
export const listed = (world: RotatingWorld, label: string): number[] | undefined =>
  world.credential(label)?.versions.map(({ version }) => version)

/** Versions of a credential that still have values in the secrets store. */
export const live = (world: RotatingWorld, label: string): Promise<number[]> =>
  world.eye.liveVersions(`resources/${label}`)
