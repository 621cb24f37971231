// Translates `ports`. Holdfast publishes no ports of a machine: HTTP requests reach a container by host and path. A port
// becomes a route if the caller names a domain, otherwise it is refused with the route to write.

import type { Translation } from '../draft.ts'
import { itemsOf, visitMembers } from '../members.ts'
import type { NamePool } from '../names.ts'
import { wholeOf } from '../source/scalars.ts'
import { memberOf, textOf, type Written } from '../source/written.ts'

export interface RouteOptions {
  /** The domain below which routed services get a host; absent: no routes are written. */
  readonly domain?: string | undefined
  /** The first labels of hosts. */
  readonly hosts: NamePool
}

interface Port {
  readonly target: number
  readonly protocol: string
  readonly address: string
  readonly application: string
}

const NOT_PUBLISHED =
  'Holdfast publishes no ports of a machine; HTTP requests reach a container by host name.'
const MOST_PORT = 65_535

export function translatePorts(translation: Translation, node: Written, options: RouteOptions): void {
  const { report, draft } = translation
  const routes: { host: string; port: number }[] = []
  for (const item of itemsOf(report, node)) {
    const port = portOf(translation, item)
    if (typeof port === 'string') report.refused(item, port)
    else if (routes.some((route) => route.port === port.target))
      report.ignored(item, `Port ${port.target} has a route already.`)
    else addRoute(translation, item, port, options, routes)
  }
  if (routes.length > 0) draft.fields.routes = routes
}

function addRoute(
  { report, draft }: Translation,
  item: Written,
  { target, address }: Port,
  { domain, hosts }: RouteOptions,
  routes: { host: string; port: number }[],
) {
  const next = `Use --domain example.com, or add a route with a host and port: ${target}.`
  if (isLoopback(address))
    return report.refused(
      item,
      'It is published to programs of the machine only, and routes are public.',
      next,
    )
  if (domain === undefined) return report.refused(item, NOT_PUBLISHED, next)
  const label = hosts.claim(routes.length === 0 ? draft.name : `${draft.name}-${target}`)
  const host = `${label}.${domain}`
  routes.push({ host, port: target })
  report.changed(
    item,
    `requests to ${host} reach port ${target}`,
    NOT_PUBLISHED,
    `Point ${host} to the nodes. Remove the route if the port does not speak HTTP.`,
  )
}

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'

/** The port of an element in the short or the long form, or the reason why it is refused. */
function portOf(translation: Translation, item: Written): Port | string {
  const port = item.kind === 'map' ? longPort(translation, item) : shortPort(textOf(item) ?? '')
  if (port === undefined) return 'It is not a port mapping.'
  const target = wholeOf(port.target)
  if (/^[0-9]+-[0-9]+$/.test(port.target))
    return 'A route has one port, so a range of ports needs several routes.'
  if (target === undefined || target < 1 || target > MOST_PORT) return 'It is not a port mapping.'
  if (port.protocol !== 'tcp') return 'Routes carry HTTP over TCP only.'
  if (port.application !== '' && !/^https?$/.test(port.application)) return 'Routes carry HTTP only.'
  return { ...port, target }
}

type WrittenPort = Omit<Port, 'target'> & { readonly target: string }

const SHORT = /^(?:(?:(\[[0-9a-fA-F:.]+\]|[0-9.]+):)?([0-9-]*):)?([0-9-]+)(?:\/([a-z]+))?$/

function shortPort(text: string): WrittenPort | undefined {
  const [, address = '', , target, protocol = 'tcp'] = SHORT.exec(text) ?? []
  return target === undefined
    ? undefined
    : { target, protocol, address: address.replace(/^\[|\]$/g, ''), application: '' }
}

const WITHOUT_MEANING = ['A route has no such setting.'] as const

function longPort({ report }: Translation, item: Written & { kind: 'map' }): WrittenPort | undefined {
  const known = ['target', 'published', 'host_ip', 'protocol', 'app_protocol']
  visitMembers(item, {
    report,
    handlers: Object.fromEntries(known.map((key) => [key, () => {}])),
    refusals: { mode: WITHOUT_MEANING, name: WITHOUT_MEANING },
  })
  const target = textOf(memberOf(item, 'target'))
  if (target === undefined) return undefined
  const [protocol = 'tcp', address = '', application = ''] = ['protocol', 'host_ip', 'app_protocol'].map(
    (key) => textOf(memberOf(item, key)),
  )
  return { target, protocol, address, application }
}
