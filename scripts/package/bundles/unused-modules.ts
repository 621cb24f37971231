// Replaces packages that a program never calls by empty modules: dockerode imports clients for SSH and image builds when it is
// loaded, and these import compiled modules that are not installed.

import type { Plugin } from 'esbuild'

const NAMESPACE = 'unused'

/** Whether an import names one of the packages; `@grpc/*` means every package of that scope. */
export const isUnused = (path: string, unused: readonly string[]): boolean =>
  unused.some((name) =>
    name.endsWith('/*') ? path.startsWith(name.slice(0, -1)) : path === name || path.startsWith(`${name}/`),
  )

export const unusedModules = (unused: readonly string[]): Plugin => ({
  name: 'unused-modules',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      isUnused(path, unused) ? { path, namespace: NAMESPACE } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({ contents: 'module.exports = {}' }))
  },
})
