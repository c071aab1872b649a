// SPDX-License-Identifier: Apache-2.0
// The official client of the Model Context Protocol drives each tool of `ascope mcp`: node mcp_client.mjs ASCOPE JOB DUMPS.
// It prints the answers, by tool. Exit 77: the client is not installed. test_mcp.py starts this and checks what it prints.
const found = await Promise.all(["client/index.js", "client/stdio.js", "types.js"].map((name) => import("@modelcontextprotocol/sdk/" + name))).catch((e) => {
  if (e.code !== "ERR_MODULE_NOT_FOUND") throw e;
  process.exit(77);
});
const [{ Client }, { StdioClientTransport }, { McpError }] = found;
const [ascope, job, dumps] = process.argv.slice(2);
const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(i) FROM n"; // stopped after 30 s
const client = new Client({ name: "test", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: ascope, args: ["mcp", job, dumps] }));

const { tools } = await client.listTools(); // compiles their schemas
const more = { compare: { base: job, new: job, path: undefined }, hang: { path: dumps }, timeline: { path: job, slice: 100 },
               sql: { path: job, statement: "SELECT count(*) AS n FROM kernels" }, explain: { term: "free_ns", path: undefined } };
const answers = {};
for (const { name } of tools)
  answers[name] = await client.callTool({ name, arguments: { path: job, max_chars: 2000, ...more[name] } });

const pages = {};
for (const { uri } of (await client.listResources()).resources)
  pages[uri] = (await client.readResource({ uri })).contents[0].text.length;

const stop = new AbortController();
const progress = [];
const cancelled = await client.callTool({ name: "sql", arguments: { path: job, statement: endless } }, undefined, {
  signal: stop.signal,
  onprogress: (p) => progress.push(p.progress) > 1 && stop.abort("enough"),
}).then(() => "answered", () => "cancelled");
const unknown = await client.callTool({ name: "shell", arguments: {} }).then(() => 0, (e) => e instanceof McpError && e.code);
const after = await client.ping();
await client.close();
process.stdout.write(JSON.stringify({ answers, pages, cancelled, progress, unknown, after }));
