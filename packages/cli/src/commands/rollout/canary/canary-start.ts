// `holdfast rollout canary start`: runs a change in a few replicas beside the current ones.

import { isJsonObject, type JsonObject, MAX_CANARY_WEIGHT } from '@holdfast/contract'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../../args/deployment-argument.ts'
import { DURATION, type Form, POSITIVE_NUMBER } from '../../../args/forms.ts'
import type { Invocation, OnlineCommand } from '../../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../../dry-run.ts'
import { EXIT, type ExitCode } from '../../../exit-codes.ts'
import { FILENAME_OPTION } from '../../../manifest/read-sources.ts'
import { printAnnounced } from '../../../print/changes.ts'
import { printError, printFailure } from '../../../print/failure.ts'
import { print } from '../../../terminal/terminal.ts'

const WEIGHT: Form = {
  expected: `a whole number from 1 to ${MAX_CANARY_WEIGHT}`,
  test: (text) => /^[1-9]\d?$/.test(text) && Number(text) <= MAX_CANARY_WEIGHT,
}

export const canaryStart: OnlineCommand = {
  name: 'rollout canary start',
  summary: 'try a change in a few replicas beside the current ones',
  details:
    'The replicas of the canary receive a share of the routed requests. The canary is aborted if one of them fails; otherwise promote or abort it. The other replicas stay as they are.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    { flags: '--image <image>', summary: 'image of the canary, with a tag or digest' },
    { ...FILENAME_OPTION, summary: 'manifest with the fields to change, or - for stdin' },
    {
      flags: '--env <KEY=VALUE>',
      summary: 'set an environment variable of the canary; may be repeated',
      many: true,
    },
    { flags: '--replicas <number>', summary: 'replicas of the canary (default: 1)', form: POSITIVE_NUMBER },
    { flags: '--weight <percent>', summary: 'share of the routed requests (default: 10)', form: WEIGHT },
    { flags: '--observe <duration>', summary: 'how long it is observed (default: 10m)', form: DURATION },
    DRY_RUN_OPTION,
  ],
  examples: [
    [
      'holdfast rollout canary start web --image registry.example.com/shop/web:1.5 --weight 10',
      'Sends a tenth of the requests to one replica of the new image.',
    ],
    [
      'holdfast rollout canary start web --env LOG_LEVEL=debug --replicas 2 --observe 30m',
      'Tries a variable in two replicas for half an hour.',
    ],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, flag, text } = invocation
    const name = deploymentName(args[0])
    const before = await client.deployments.read(name)
    if (!before.ok) return printFailure(terminal, before.failure)
    const loaded = await loadChange(invocation, before.value.name)
    if (!loaded.ok) return loaded.exitCode
    const typed = changeOf(invocation, loaded.fields, before.value.environment ?? {})
    if (typeof typed === 'string') {
      printError(terminal, typed)
      return EXIT.usage
    }
    const { resolveNames } = await import('../../../resources/resolve-names.ts')
    const resolved = await resolveNames(client, typed)
    if (!resolved.ok) return printFailure(terminal, resolved.failure)
    const change = resolved.value
    const observe = text('observe')
    const sent = {
      change,
      replicas: Number(text('replicas') ?? 1),
      weight: Number(text('weight') ?? 10),
      ...(observe === undefined ? {} : { observe }),
    }
    const conditions = { ifMatch: String(before.value.revision) }
    if (flag('dry-run'))
      return printPlanned(
        terminal,
        `deployment/${name}`,
        'tried in a canary',
        await client.dryRuns.startCanary(name, sent, conditions),
        name,
      )
    const started = await client.deployments.startCanary(name, sent, conditions)
    if (!started.ok) return printFailure(terminal, started.failure)
    const { replicas, weight } = sent
    print(
      terminal,
      `canary of deployment/${name} started: ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}, ${weight} % of the requests`,
    )
    printAnnounced(terminal, started.value, { verbose: flag('verbose'), secrets: [] })
    print(terminal, `follow it: holdfast rollout canary status ${name}`)
    return EXIT.ok
  },
}

type LoadedChange =
  | { readonly ok: true; readonly fields: JsonObject }
  | { readonly ok: false; readonly exitCode: ExitCode }

/** The fields of the manifest, without its kind and name; none without a manifest. */
async function loadChange(invocation: Invocation, deployment: string): Promise<LoadedChange> {
  if (invocation.texts('filename').length === 0) return { ok: true, fields: {} }
  const { loadManifests } = await import('../../../manifest/load-manifests.ts')
  const loaded = await loadManifests(invocation)
  if (!loaded.ok) return loaded
  const [value, ...others] = loaded.manifests.map((manifest) => manifest.value)
  const wrong =
    !isJsonObject(value) || others.length > 0
      ? 'a canary needs one document with the fields to change'
      : foreignText(value, deployment)
  if (!isJsonObject(value) || wrong !== undefined) {
    printError(invocation.terminal, wrong ?? '')
    return { ok: false, exitCode: EXIT.usage }
  }
  const { kind: _kind, name: _name, ...fields } = value
  return { ok: true, fields }
}

/** Why the document is not about the deployment; undefined if it is. Both `kind` and `name` may be absent. */
function foreignText({ kind, name }: JsonObject, deployment: string): string | undefined {
  if (kind !== undefined && kind !== 'Deployment')
    return 'the file describes no deployment; use one with kind Deployment, or without a kind'
  if (name !== undefined && name !== deployment)
    return `the file is about another deployment than ${deployment}; correct its name, or leave it out`
  return undefined
}

/** The changed fields, or what is wrong with the options. */
function changeOf(
  { text, texts }: Pick<Invocation, 'text' | 'texts'>,
  fields: JsonObject,
  environment: { readonly [key: string]: string },
): JsonObject | string {
  const image = text('image')
  const pairs = texts('env').map((word) => /^([^=]+)=(.*)$/s.exec(word))
  // The word is not quoted, because it may be a secret that was typed in the wrong place.
  if (pairs.includes(null)) return '--env needs KEY=VALUE'
  const set = Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))
  const change: JsonObject = {
    ...fields,
    ...(image === undefined ? {} : { image }),
    ...(pairs.length === 0
      ? {}
      : {
          environment: { ...(isJsonObject(fields.environment) ? fields.environment : environment), ...set },
        }),
  }
  return Object.keys(change).length === 0 ? 'nothing to try: use --image, --env or -f' : change
}
