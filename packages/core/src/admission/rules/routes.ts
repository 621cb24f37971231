// Rules for the form of a route: an exact host, a normalized path and a container port. The fact checks test whether
// another deployment owns the route.

import { accepted, isAbsent, onNumber, onText, type Rule, type Stage } from '../rule-engine/rule.ts'

const HOST_CHARACTERS = 253
const HOST_LABEL_CHARACTERS = 63
const HOST_LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/
const DIGITS = /^[0-9]+$/
const PATH_CHARACTERS = 1024
/** Matches a path segment of characters that a URL never encodes, so that each path has only one spelling. */
const PATH_SEGMENT = /^[A-Za-z0-9._~-]+$/
const MAX_PORT = 65_535

const EXPECTED: { readonly [field: string]: string } = {
  host: `a lowercase DNS name without wildcard and port, at most ${HOST_CHARACTERS} characters, for example shop.example.com`,
  path: `/ or a normal path such as /api/v1: letters, digits, "-", ".", "_" and "~" between slashes, no slash at its end, at most ${PATH_CHARACTERS} characters`,
  port: `the port on which the container listens, a whole number from 1 to ${MAX_PORT}`,
}

export const routesRules: readonly Rule[] = [
  routeRule('host', 'required', isAbsent),
  routeRule(
    'host',
    'form',
    onText((host) => !isHost(host)),
  ),
  routeRule(
    'path',
    'form',
    onText((path) => !isPath(path)),
  ),
  routeRule('port', 'required', isAbsent),
  routeRule(
    'port',
    'range',
    onNumber((port) => port < 1 || port > MAX_PORT),
  ),
]

function routeRule(field: string, stage: Stage, refuses: Rule['refuses']): Rule {
  return {
    code: 'route_invalid',
    at: `routes[*].${field}`,
    stage,
    refuses: (value, context, place) =>
      refuses(value, context, place) !== false && accepted(EXPECTED[field] ?? ''),
  }
}

/** Whether a text is a host name. A last label that is a number is not allowed: it would mean an IP address. */
function isHost(host: string): boolean {
  if (host.length > HOST_CHARACTERS) return false
  const labels = host.split('.')
  const isName = labels.every((label) => label.length <= HOST_LABEL_CHARACTERS && HOST_LABEL.test(label))
  return isName && !DIGITS.test(labels.at(-1) ?? '')
}

function isPath(path: string): boolean {
  if (path === '/') return true
  if (path.length > PATH_CHARACTERS || !path.startsWith('/')) return false
  const segments = path.slice(1).split('/')
  return segments.every((segment) => PATH_SEGMENT.test(segment) && segment !== '.' && segment !== '..')
}
