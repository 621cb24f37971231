// How a secret is named on the command line: `resources/orders-db`, or `secret/resources/orders-db` as `-o name` prints it.

import type { ArgumentSpec } from '../command.ts'

export const SECRET_ARGUMENT: ArgumentSpec = {
  name: 'path',
  summary: 'its namespace and name, for example resources/orders-db',
}

/** Whether there is such a namespace, and what else is wrong with the path, the platform says. */
export function secretPath(typed = ''): { namespace: string; resource: string } | undefined {
  const path = typed.replace(/^secret\//, '')
  const slash = path.indexOf('/')
  return slash < 0 ? undefined : { namespace: path.slice(0, slash), resource: path.slice(slash + 1) }
}

export const NO_PATH = 'a secret is named by its namespace and name: resources/orders-db'
