// What `init` writes: the least that runs, and the rest as comments to be taken in.

export function manifestTemplate(name: string, image: string, schemaPath: string): string {
  return `# yaml-language-server: $schema=${schemaPath}
kind: Deployment
# Lowercase letters, digits and hyphens; it is the container's name and its alias on the network.
name: ${name}
# A pinned reference: a tag other than latest, or a digest.
image: ${image}
replicas: 1

# Run inside the container; a replica is ready when it first passes.
# healthCheck:
#   type: exec
#   command: ["wget", "-q", "-O", "-", "http://127.0.0.1:8080/healthz"]
#   interval: 30s
#   timeout: 10s
#   retries: 3

# Constants only. Credentials are refused here.
# environment:
#   LOG_LEVEL: info

# Credentials, by where they are kept: each key of the document is delivered as DB_<key>.
# secrets:
#   - name: DB
#     vault_path: deployments/${name}
# Variables that are put together from them when a container is made.
# composedEnvironment:
#   DATABASE_URL: postgres://app:{{secret.${name}.password}}@database:5432/app

# Requests decide where it fits; limits are what the engine enforces.
# resources:
#   cpuMillis: 250
#   memoryBytes: 268435456
# limits:
#   memoryBytes: 536870912

# Where it may run: every constraint must hold, and data stays where residency says (holdfast get regions).
# placement:
#   residency:
#     region: eu
#   constraints:
#     - label: disk
#       operator: in
#       values: [ssd]
#   antiAffinity: [${name}]

# Waits at its start until the others are.
# dependsOn:
#   database: healthy

# Reached from outside by host and path; the port is the container's.
# routes:
#   - host: ${name}.example.com
#     path: /
#     port: 8080

# How an update goes; these are the defaults.
# update:
#   order: start-first
#   parallelism: 1
#   failureAction: rollback
#   progressDeadline: 300s
`
}
