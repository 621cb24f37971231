// The body of a job from the options of `holdfast run`. Names of volumes and nodes are not resolved here.

import { defined, type Json, type JsonObject } from '@holdfast/contract'
import { isDeploymentName } from '@holdfast/core/admission'
import { convertQuantities } from '@holdfast/manifest'
import { numberOf } from '../args/forms.ts'
import type { Invocation } from '../command.ts'

export type JobBody =
  | { readonly ok: true; readonly body: JsonObject }
  | { readonly ok: false; readonly why: string }

type Typed = Pick<Invocation, 'args' | 'text' | 'texts' | 'flag'>

export function jobBodyOf({ args: [image = '', ...words], text, texts, flag }: Typed): JobBody {
  const environment = pairsOf(texts('env'))
  // The word is not quoted, because it may be a secret that was typed in the wrong place.
  if (typeof environment === 'number') return wrong(`--env ${environment + 1} is not KEY=VALUE`)
  const secrets = pairsOf(texts('secret'))
  if (typeof secrets === 'number')
    return wrong('a secret needs a name and a path: --secret DB=resources/orders-db')
  const mounts = texts('mount').map(mountOf)
  if (mounts.includes(undefined))
    return wrong(
      'a mount needs a volume and a path in the container: --mount data:/var/lib/data, or data:/var/lib/data:ro',
    )
  const quantities = convertQuantities(
    defined({
      kind: 'Job',
      resources: block({ cpu: text('cpu'), memory: text('memory') }),
      limits: block({ cpu: text('cpu-limit'), memory: text('memory-limit') }),
    }),
  )
  const [fault] = quantities.rejections
  if (fault !== undefined)
    return wrong(`${fault.field}: "${fault.received}" is not accepted. ${fault.why} Write ${fault.expected}.`)
  const body = defined({
    ...Object(quantities.value),
    name: text('name') ?? nameFromImage(image),
    image,
    command: filled(flag('keep-entrypoint') ? [] : words),
    args: filled(flag('keep-entrypoint') ? words : []),
    environment: Object.keys(environment).length === 0 ? undefined : environment,
    secrets: filled(Object.entries(secrets).map(([name, vault_path]) => ({ name, vault_path }))),
    volumes: filled(mounts.flatMap((mount) => mount ?? [])),
    networks: filled([...texts('network')]),
    nodeId: text('node')?.replace(/^node\//, ''),
    timeout: text('job-timeout'),
    retries: numberOf(text('retries')),
    onNodeLoss: text('on-node-loss'),
  })
  return { ok: true, body }
}

const wrong = (why: string): JobBody => ({ ok: false, why })

const filled = <T extends Json>(list: readonly T[]): T[] | undefined =>
  list.length === 0 ? undefined : [...list]

/** A block of quantities; undefined if none is given. */
function block(quantities: { readonly [name: string]: string | undefined }): JsonObject | undefined {
  const given = defined(quantities)
  return Object.keys(given).length === 0 ? undefined : given
}

/** The values by key of `KEY=VALUE` words, or the position of the first other word. */
function pairsOf(words: readonly string[]): { [key: string]: string } | number {
  const wrongAt = words.findIndex((word) => !/^[^=]+=/.test(word))
  if (wrongAt >= 0) return wrongAt
  return Object.fromEntries(
    words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
  )
}

/** The mount of `data:/var/lib/data` or `data:/var/lib/data:ro`. */
function mountOf(word: string): JsonObject | undefined {
  const [, volume, target, readOnly] = /^([^:]+):(\/[^:]*)(:ro)?$/.exec(word) ?? []
  if (volume === undefined || target === undefined) return undefined
  return { volume: volume.replace(/^volume\//, ''), target, type: 'volume', readOnly: readOnly !== undefined }
}

const NAME_CHARACTERS = 63

/** The default name of a job: `registry.example.com/team/db_migrate:1.2` is called `db-migrate`. */
export function nameFromImage(image: string): string {
  const last = image.replace(/@.*$/, '').split('/').at(-1) ?? ''
  const name = last
    .replace(/:.*$/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, NAME_CHARACTERS)
    .replaceAll(/^[^a-z]+|-+$/g, '')
  return isDeploymentName(name) ? name : 'job'
}
