// A platform with volumes that recommendations concern: one without a replica, a full one, a full one that is no longer
// measured, and one that is deleted while its recommendation is applied.

import type { DesiredCopy, Measurement } from '@holdfast/contract'
import { EXAMPLE, type ExampleRequest } from '@holdfast/contract/examples'
import { recommendationId } from '@holdfast/server/operations/volumes/recommendations'
import { makeVolumeReady } from '../nodes/ready-volume.ts'
import type { ApiAnswer, ApiClient } from '../platform/api-client.ts'
import { ownPlatform } from '../platform/shared-platform.ts'
import type { Platform } from '../platform/start-platform.ts'
import { enrollVolumeNode, openVolumeAgent, type VolumeAgent } from '../session/volume-agent.ts'
import { waitUntil } from '../wait-until.ts'
import { type Replacement, replacementsOn } from './run-examples.ts'

export interface RecommendationWorld {
  readonly platform: Platform
  readonly api: ApiClient
  /** Sends an example; names of the examples stand for the real recommendations. */
  send(request: ExampleRequest): Promise<ApiAnswer>
  asExample(text: string): string
  /** Called after the volume `late` was deleted and before its node answers the measurement. */
  onDeleted(act: () => Promise<void>): void
  stop(): Promise<void>
}

const MIB = 1024 ** 2
const SIZE = 64 * MIB
const POOL = 2 ** 40
const LONG_AGO = '2026-01-01T00:00:00.000Z'

/** The share of each volume that is in use. */
const USED: { readonly [name: string]: number } = { full: 0.9, old: 0.96 }

export async function startRecommendationWorld(): Promise<RecommendationWorld> {
  const settings = { roles: ['api', 'broker', 'gateway'], volumes: { enabled: true } }
  const platform = await ownPlatform({ settings })
  const api = platform.api(platform.acme.token)
  const path = `/api/v1/tenants/${platform.acme.id}/volumes`
  const names = new Map<string, string>()
  let acted = async (): Promise<void> => undefined
  const measure = async ({ volume }: DesiredCopy): Promise<Measurement> => {
    const name = names.get(volume) ?? ''
    if (name === 'late') {
      const answer = await api.delete(`${path}/${volume}`)
      if (answer.status !== 202) throw new Error(answer.text)
      await acted()
    }
    const measuredAt = name === 'old' ? LONG_AGO : new Date().toISOString()
    return { volume, usedBytes: Math.ceil(SIZE * (USED[name] ?? 0)), measuredAt }
  }
  const agents: VolumeAgent[] = []
  // Each volume is on a node of its own, except for `old`: an answer about one volume is kept for all of its node.
  for (const [at, held] of [['bare'], ['full', 'old'], ['late']].entries()) {
    const node = await enrollVolumeNode(platform.baseUrl, api, `advised-${at}`)
    const agent = await openVolumeAgent(platform.baseUrl, node, {
      poolBytes: POOL,
      measure,
      report: () => undefined,
    })
    agents.push(agent)
    for (const name of held) {
      const replicas = name === 'bare' || name === 'late' ? 0 : 1
      const body = { name, class: 'replicated', sizeBytes: SIZE, replicas, nodeId: node.nodeId }
      const answer = await api.post(path, body)
      if (answer.status !== 201) throw new Error(answer.text)
      const made = String(Object(answer.body['volume']).id)
      names.set(made, name)
      await makeVolumeReady(platform, platform.acme.id, made, { primary: node.nodeId, replicas: [] })
    }
    await waitUntil(() => agent.copies.size === held.length, { what: 'the agent knows its copies' })
  }
  const ids = [...replacementsOn(platform), ...recommendationIds(names)]
  const replaced = (text: string) => ids.reduce((sent, [example, id]) => sent.replaceAll(example, id), text)
  return {
    platform,
    api,
    send: ({ method, path: sentTo, body, headers = {} }) => {
      const real = Object.entries(headers).map(([name, value]) => [name, replaced(value)])
      return api.send(method, replaced(sentTo), body, Object.fromEntries(real))
    },
    asExample: (text) => ids.reduce((shown, [example, id]) => shown.replaceAll(id, example), text),
    onDeleted: (act) => {
      acted = act
    },
    async stop() {
      for (const agent of agents) agent.close()
      await platform.stop()
    },
  }
}

const EXAMPLES: { readonly [name: string]: readonly [example: string, type: string] } = {
  bare: [EXAMPLE.copiesRecommendation, 'under_replicated'],
  full: [EXAMPLE.sizeRecommendation, 'capacity_low'],
  old: [EXAMPLE.oldRecommendation, 'capacity_low'],
  late: [EXAMPLE.lateRecommendation, 'under_replicated'],
}

const recommendationIds = (names: ReadonlyMap<string, string>): Replacement[] =>
  [...names].flatMap(([volume, name]) => {
    const [example, type] = EXAMPLES[name] ?? []
    return example === undefined ? [] : [[example, recommendationId(volume, type ?? '')]]
  })
