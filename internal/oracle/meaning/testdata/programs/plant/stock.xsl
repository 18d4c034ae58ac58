<?xml version="1.0"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:stock="xalan://plant.Stock" exclude-result-prefixes="stock">
  <xsl:output method="text"/>
  <xsl:template match="/">
    <xsl:value-of select="stock:price('a book')"/>
  </xsl:template>
</xsl:stylesheet>
