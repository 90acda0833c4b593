// Starts Swagger UI with the OpenAPI document of the page. Requests go to the host that served the page.
const root = document.getElementById('api');
const reply = await fetch(root.dataset.document);
const document_ = await reply.json();
document_.servers = [{ url: location.origin }];
window.SwaggerUIBundle({
  domNode: root,
  spec: document_,
  docExpansion: 'none',
  filter: true,
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // Tokens stay in memory and are lost on reload.
  persistAuthorization: false,
  validatorUrl: null,
});
