// `holdfast-server check-config`: prints every setting with its value and the source of the value, or every fault. Starts
// nothing and opens no connection. Secrets are shown as `<set>`.

import { childPath, elementPath } from '@holdfast/contract'
import { explainProfileFault, type ProfileFault } from './check-production.ts'
import { explainFault } from './config-fault.ts'
import { isTree } from './draft.ts'
import type { ConfigSources, LoadedConfig } from './load-config.ts'
import { type Config, configShape } from './schema.ts'
import { innerNode, type SettingNode } from './setting.ts'
import { isWithin } from './settings-table.ts'

export interface CheckedConfig {
  readonly exitCode: 0 | 1
  /** Output of the command, for standard output when the configuration is valid, otherwise for standard error. */
  readonly text: string
}

interface Line {
  readonly path: string
  readonly shown: string
}

const NOT_SET = '(not set)'

/** `faultsOf` finds the faults of a profile in a valid configuration; by default there are none. */
export function checkConfig(
  loaded: LoadedConfig,
  faultsOf: (config: Config, sources: ConfigSources) => readonly ProfileFault[] = () => [],
): CheckedConfig {
  if (loaded.ok) {
    const unfit = faultsOf(loaded.config, loaded.sources).map(explainProfileFault)
    if (unfit.length === 0) return { exitCode: 0, text: describeConfig(loaded.config, loaded.sources) }
    const summary = `${unfit.length} ${unfit.length === 1 ? 'fault' : 'faults'} to correct`
    return { exitCode: 1, text: [...unfit, summary, ''].join('\n') }
  }
  const count = loaded.faults.length
  const summary = `${count} ${count === 1 ? 'fault' : 'faults'} in the configuration; nothing was started`
  return { exitCode: 1, text: [...loaded.faults.map(explainFault), summary, ''].join('\n') }
}

function describeConfig(config: Config, sources: ConfigSources): string {
  const lines = describeNode(configShape, config, '')
  const widest = Math.max(...lines.map(({ path }) => path.length))
  return lines
    .map(({ path, shown }) => {
      const source = shown === NOT_SET ? '' : `  # ${sourceOf(sources, path)}`
      return `${path.padEnd(widest)}  ${shown}${source}\n`
    })
    .join('')
}

function describeNode(field: SettingNode, value: unknown, path: string): Line[] {
  const node = innerNode(field)
  if (node.kind === 'object') {
    const inside = isTree(value) ? value : {}
    return Object.entries(node.fields).flatMap(([name, inner]) =>
      describeNode(inner, inside[name], childPath(path, name)),
    )
  }
  if (value === undefined) return [{ path, shown: NOT_SET }]
  if (node.setting?.secret === true) return [{ path, shown: '<set>' }]
  if (node.kind === 'map' && isTree(value)) {
    return Object.entries(value).flatMap(([key, inner]) =>
      describeNode(node.value, inner, childPath(path, key)),
    )
  }
  if (node.kind !== 'list' || !Array.isArray(value)) return [{ path, shown: String(value) }]
  const element = innerNode(node.element)
  if (value.length === 0) return [{ path, shown: '(none)' }]
  if (element.kind !== 'object') return [{ path, shown: value.join(', ') }]
  return value
    .flatMap((entry, index) => describeNode(element, entry, elementPath(path, index)))
    .filter(({ shown }) => shown !== NOT_SET)
}

/** Returns the source of the setting, or else of the list or section that contains the setting. */
function sourceOf(sources: ConfigSources, path: string): string {
  const known = [...sources.keys()].filter((candidate) => isWithin(path, candidate))
  const nearest = known.reduce((best, candidate) => (candidate.length > best.length ? candidate : best), '')
  return sources.get(nearest) ?? 'default'
}
