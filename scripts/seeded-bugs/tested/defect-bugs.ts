// Seeded bugs that bring defects of deployments and machines back.

import { core, server } from '../bug.ts'
import type { TestedBug } from './tested-bug.ts'

export const DEFECT_BUGS: readonly TestedBug[] = [
  {
    name: 'a silent engine never fails',
    edits: [
      core(
        'liveness/judge-engine.ts',
        `if (silentMs >= Math.max(failedMs, engineSilentMs)) return 'failed'`,
        `if (silentMs >= Math.max(failedMs, engineSilentMs)) return 'silent'`,
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/gateway/reports/accept-engine-health.test.ts',
      test: 'an engine is degraded after 30 s of silence, failed after 120 s, and fine once it answers steadily',
    },
  },
  {
    name: 'a replica is not recreated on the control-plane node where it is',
    edits: [
      core(
        'scheduling/filters/control-plane-node.ts',
        'node.controlPlane && !workload.ofPlatform && !mayReturn(workload, node)',
        'node.controlPlane && !workload.ofPlatform',
      ),
    ],
    caughtBy: {
      file: 'packages/core/src/scheduling/filters/filters.test.ts',
      test: 'a replica that the node already has',
    },
  },
  {
    name: 'a limit of memory is accepted that the engine refuses',
    edits: [
      core(
        'admission/rules/resources.ts',
        'bytes > 0 && bytes < LEAST_MEMORY_LIMIT',
        'bytes < 0 - LEAST_MEMORY_LIMIT',
      ),
    ],
    caughtBy: {
      file: 'packages/core/src/admission/rules/resources.test.ts',
      test: 'rules of resources: a limit of memory that the engine refuses',
    },
  },
  {
    name: 'a rotation continues silently in the name of a revoked token',
    edits: [
      core(
        'secrets/rotation-starter.ts',
        `if (stored === undefined) return 'revoked'`,
        `if (stored === undefined) return 'valid'`,
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/loops/rotations.test.ts',
      test: 'a rotation whose token was revoked continues and reports that',
    },
  },
  {
    name: 'more dependencies than a commit compares are a cycle',
    edits: [
      server(
        'operations/deployments/write/gather-facts.ts',
        'if (found === undefined || found.deleting) continue',
        'if (read > MOST_COMPARED) {\n      graph.set(name, { hasHealthCheck: true, dependsOn: [spec.name] })\n      continue\n    }\n    if (found === undefined || found.deleting) continue',
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/operations/deployments/write/gather-facts.test.ts',
      test: 'more dependencies than a commit compares are no cycle',
    },
  },
]
