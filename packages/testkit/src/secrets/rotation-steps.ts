// What tests of a rotation do again and again: deployments that run well, a step that is accepted, which versions there are.

import { uniqueName } from '@holdfast/testkit'
import { expect } from 'vitest'
import type { ApiAnswer } from '../platform/api-client.ts'
import type { RotatingWorld } from './rotating-world.ts'

/** Deployments that run well with version 1 of a credential of their own. */
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

/** By the credential's record. */
export const listed = (world: RotatingWorld, label: string): number[] | undefined =>
  world.credential(label)?.versions.map(({ version }) => version)

/** In the secrets store. */
export const live = (world: RotatingWorld, label: string): Promise<number[]> =>
  world.eye.liveVersions(`resources/${label}`)
