// What is in force, and why: every setting with its value and where that came from. For `holdfast-server check-config`
// and the first lines of the log. A secret is shown as `<set>`.

import { childPath, elementPath } from '@holdfast/contract'
import { isTree } from './draft.ts'
import { isWithin } from './leaves.ts'
import type { ConfigSources } from './load-config.ts'
import { type Config, configShape } from './schema.ts'
import { innerNode, type SettingNode } from './setting.ts'

interface Line {
  readonly path: string
  readonly shown: string
}

const NOT_SET = '(not set)'

export function describeConfig(config: Config, sources: ConfigSources): string {
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
  return Array.isArray(value) ? describeList(node, value, path) : [{ path, shown: String(value) }]
}

function describeList(node: SettingNode, value: readonly unknown[], path: string): Line[] {
  const element = node.kind === 'list' ? innerNode(node.element) : node
  if (value.length === 0) return [{ path, shown: '(none)' }]
  if (element.kind !== 'object') return [{ path, shown: value.join(', ') }]
  return value
    .flatMap((entry, index) => describeNode(element, entry, elementPath(path, index)))
    .filter(({ shown }) => shown !== NOT_SET)
}

/** Of the setting, or of what it is a part of. */
function sourceOf(sources: ConfigSources, path: string): string {
  const known = [...sources.keys()].filter((candidate) => isWithin(path, candidate))
  const nearest = known.reduce((best, candidate) => (candidate.length > best.length ? candidate : best), '')
  return sources.get(nearest) ?? 'default'
}
